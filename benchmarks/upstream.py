"""An upstream on the loopback: ``/document`` sends 1 MB of JSON, ``/endless`` never stops."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from documents import read_document

DATA = json.dumps(json.loads(read_document("large").raw)["data"], separators=(",", ":")).encode()


class Upstream(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        if self.path == "/document":
            self.send_header("Content-Length", str(len(DATA)))
            self.end_headers()
            self.wfile.write(DATA)
            return
        self.end_headers()
        try:
            self.wfile.write(b'{"rows": [')
            while True:
                self.wfile.write(b"0," * 32_768)
        except OSError:
            self.close_connection = True  # the gate has read enough

    def log_message(self, *_: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    print(server.server_port, flush=True)
    server.serve_forever()
