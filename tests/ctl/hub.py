"""A hub on loopback that speaks as much as huggingface_hub asks for: a model's files, with ranges."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SHA = "0123456789abcdef0123456789abcdef01234567"


class Hub:
    """`files` of the one model OWNER/NAME. `cut`: files whose bodies end early, once. `asked`: paths that were got."""

    def __init__(self, files: dict[str, bytes], cut: set[str] | None = None) -> None:
        self.files = files
        self.cut = cut or set()
        self.asked: list[str] = []
        self.url = ""

    @contextmanager
    def serving(self) -> Iterator[Hub]:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                hub.answer(self, True)

            def do_HEAD(self) -> None:
                hub.answer(self, False)

            def log_message(self, *args: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield self
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def answer(self, handler: BaseHTTPRequestHandler, whole: bool) -> None:
        path = handler.path.partition("?")[0]
        if path.startswith("/api/models/OWNER/NAME"):
            siblings = [
                {"rfilename": name, "size": len(data), "blobId": _tag(data)} for name, data in self.files.items()
            ]
            body = {"id": "OWNER/NAME", "modelId": "OWNER/NAME", "sha": SHA, "siblings": siblings, "private": False}
            if "/tree/" in path:
                body = [  # type: ignore[assignment]
                    {"type": "file", "path": name, "size": len(data), "oid": _tag(data)}
                    for name, data in self.files.items()
                ]
            self._send(handler, 200, json.dumps(body).encode(), whole, {"content-type": "application/json"})
            return
        name = path.removeprefix(f"/OWNER/NAME/resolve/{SHA}/").removeprefix("/OWNER/NAME/resolve/main/")
        data = self.files.get(name)
        if data is None:
            self._send(handler, 404, b"{}", whole, {"x-error-code": "RepoNotFound"})
            return
        if whole:
            self.asked.append(name)
        headers = {"etag": f'"{_tag(data)}"', "x-repo-commit": SHA, "accept-ranges": "bytes"}
        start = 0
        if wanted := handler.headers.get("range"):
            start = int(wanted.removeprefix("bytes=").partition("-")[0])
            headers["content-range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        cut = whole and name in self.cut
        if cut:
            self.cut.discard(name)
        self._send(handler, 206 if start else 200, data[start:], whole, headers, cut)

    def _send(
        self,
        handler: BaseHTTPRequestHandler,
        status: int,
        body: bytes,
        whole: bool,
        headers: dict[str, str],
        cut: bool = False,
    ) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        if whole:
            handler.wfile.write(body[: len(body) // 2] if cut else body)
        if cut:
            handler.close_connection = True


def _tag(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()
