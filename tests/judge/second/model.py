"""A server that speaks the dialects of stronger judges, and keeps what it was sent."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Model:
    """A server that speaks both dialects. `said`: what the model answers, or a function that answers the request."""

    def __init__(self, said: str, status: int = 200, wait_s: float = 0.0) -> None:
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        model = self
        self.over = threading.Event()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                model.bodies.append(self.rfile.read(int(self.headers["content-length"])))
                model.headers.append(dict(self.headers))
                model.over.wait(wait_s)
                whole: Any = {"choices": [{"message": {"content": said}}]}
                if self.path.endswith("/messages"):
                    whole = {"content": [{"type": "text", "text": said}], "stop_reason": "end_turn"}
                data = json.dumps(whole).encode()
                with suppress(BrokenPipeError, ConnectionResetError):
                    self.send_response(status)
                    self.send_header("content-length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Model:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
