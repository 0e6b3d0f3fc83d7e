"""A model on loopback that makes the calls it was given, one a turn, and keeps what it was told of them."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from reflexd.setup.deep.dialects import Call, answer, told

BODY_MAX = 64 * 1024 * 1024


class Model:
    """Use as a context manager. Which call is due is read from the conversation, so a retry is no trouble."""

    def __init__(self, calls: tuple[Call, ...]) -> None:
        self.told: list[str] = []
        self._calls = calls
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"model": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Model:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def due(self, body: dict[str, object]) -> tuple[Call | None, int]:
        heard = told(body)
        if not body.get("tools"):
            return None, 0  # a title or a summary, no turn of the conversation
        if len(heard) > len(self.told):
            self.told = heard
        return (self._calls[len(heard)] if len(heard) < len(self._calls) else None), len(heard)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: Model

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: stderr is the person's."""

    def do_GET(self) -> None:
        self._json(200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    def do_HEAD(self) -> None:
        self._json(200, None)

    def do_POST(self) -> None:
        try:
            size = int(self.headers.get("Content-Length") or 0)
            if size > BODY_MAX:
                raise ValueError("the request is too long")
            call, number = self.model.due(json.loads(self.rfile.read(size) or b"{}"))
            parts = answer(self.path.partition("?")[0], call, number)
        except (ValueError, KeyError, TypeError, AttributeError) as e:
            self._json(400, {"error": {"message": str(e)}})
            return
        if parts is None:
            self._json(404, {"error": {"message": "no such path"}})
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            for part in parts:
                self.wfile.write(part)
        except OSError:
            return  # the agent hung up

    def _json(self, status: int, value: object) -> None:
        data = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
