"""A CI server with two runs: ``nightly`` has failed, ``release`` runs; a restart sets one going."""

import json
import sys
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer

STATES = {"nightly": "failed", "release": "running"}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        run = self.path.rpartition("/")[2]
        observed_at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.answer(200, {"run": run, "state": STATES.get(run, ""), "observed_at": observed_at})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        run = self.path.split("/")[2]
        STATES[run] = "running"
        print(f"restarted: {run}", flush=True)
        self.answer(202, {"run": run, "state": "restarted"})

    def answer(self, status: int, value: object) -> None:
        raw = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        """Say nothing but what was restarted."""


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8739
    print(f"listening on 127.0.0.1:{port}", flush=True)
    HTTPServer(("127.0.0.1", port), Handler).serve_forever()
