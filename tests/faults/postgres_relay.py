"""A relay between a client and PostgreSQL that loses the connection at a COMMIT, on demand."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Literal

COMMIT = b"COMMIT\0"

Loss = Literal["before", "after", None]


class Relay:
    """``lose``: the next COMMIT is lost before the server has it, or only its answer is.

    ``refuses``: whether new connections are closed at once.
    """

    def __init__(self, port: int) -> None:
        self.lose: Loss = None
        self.refuses = False
        self._upstream = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.refuses:
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self._upstream))
            silent = threading.Event()
            for work in (self._forward, self._back):
                threading.Thread(target=work, args=(client, server, silent), daemon=True).start()

    def _forward(
        self, client: socket.socket, server: socket.socket, silent: threading.Event
    ) -> None:
        with suppress(OSError):
            while chunk := client.recv(65_536):
                loss = self.lose if COMMIT in chunk else None
                if loss is not None:
                    self.lose = None
                if loss == "before":
                    break
                if loss == "after":
                    silent.set()  # the answer ends the connection instead of reaching the client
                server.sendall(chunk)
        _end(client, server)

    def _back(self, client: socket.socket, server: socket.socket, silent: threading.Event) -> None:
        with suppress(OSError):
            while chunk := server.recv(65_536):
                if silent.is_set():
                    break
                client.sendall(chunk)
        _end(client, server)


def _end(*sockets: socket.socket) -> None:
    for each in sockets:
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()
