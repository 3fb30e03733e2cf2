"""Serve one recorded GitHub payload on 127.0.0.1:8737 (another port as the first argument)."""

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

PAYLOAD = Path(__file__).with_name("payload.json").read_bytes()
RUN = "/repos/octo-org/octo-repo/runs/289782451"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        found = self.path == RUN
        body = PAYLOAD if found else b"{}"
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8737
    print(f"serving {RUN} on 127.0.0.1:{port}", flush=True)
    HTTPServer(("127.0.0.1", port), Handler).serve_forever()
