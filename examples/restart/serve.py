"""Restart the job, then hang up before answering: the answer is lost, the deed is done."""

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        print(f"restarted: {self.path}", flush=True)
        self.close_connection = True  # no status line, no body


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8738
    print(f"listening on 127.0.0.1:{port}", flush=True)
    HTTPServer(("127.0.0.1", port), Handler).serve_forever()
