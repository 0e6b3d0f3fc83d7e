"""A System One server that finds everything harmless, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Recorder:
    """`asked`: the bodies of all requests, as text."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                text = self.rfile.read(int(self.headers["content-length"])).decode()
                recorder.asked.append(text)
                reply = json.dumps({"model": "m", "answers": _harmless(json.loads(text)), "usage": {}}).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Recorder:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _harmless(body: Any) -> dict[str, object]:
    return {name: _answer(name, question) for name, question in body["questions"].items()}


def _answer(name: str, question: Any) -> dict[str, object]:
    match question["type"]:
        case "noul":
            return {"type": "noul", "noul": 1.0 if name == "on_task" else 0.0}
        case "choice":
            options = list(question["criteria"])
            shares = {option: float(option == options[0]) for option in options}
            return {"type": "choice", "choice": options[0], "probabilities": shares, "confidence": 1.0}
        case _:
            levels = question["criteria"]
            shares = {str(i): float(i == 0) for i in range(len(levels))}
            legend = {str(i): text for i, text in enumerate(levels)}
            return {"type": "score", "score": 0.0, "probabilities": shares, "legend": legend, "confidence": 1.0}
