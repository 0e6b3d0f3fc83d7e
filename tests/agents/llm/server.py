"""The server. One thread a connection; the requests it heard are kept in order.

What is not covered: answers that are not streamed (none of the agents wants one from a model that
may call tools), and any check of what an agent sends beside its conversation.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Protocol

from tests.agents.llm import anthropic, chat, responses
from tests.agents.llm.script import MAIN, Conversation, Request, Script, Step, Turn, place_of, turn


class Dialect(Protocol):
    PREFIX: str

    def read(self, body: dict[str, object]) -> Conversation: ...
    def write(self, turn: Turn, model: str) -> Iterator[bytes]: ...


DIALECTS: dict[str, Dialect] = {
    "/messages": anthropic,
    "/responses": responses,
    "/chat/completions": chat,
}


class ScriptedLlm:
    """Use as a context manager; set `script` before an agent starts."""

    def __init__(self) -> None:
        self.script = Script(())
        self.requests: list[Request] = []
        self.failures: list[str] = []
        self._begun: set[tuple[str, int]] = set()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (_Handler,), {"llm": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> ScriptedLlm:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def play(self, script: Script) -> None:
        """Begin a new script; what was heard before is forgotten."""
        with self._lock:
            self.script, self.requests, self.failures, self._begun = script, [], [], set()

    def results(self, thread: str = MAIN) -> dict[tuple[int, int], str]:
        """What the model was told in a conversation, by step and number of the call."""
        with self._lock:
            heard = [result for r in self.requests if r.thread == thread for result in r.results]
        return {place: result.text for result in heard if (place := place_of(result.id))}

    def turns(self, thread: str) -> int:
        return sum(r.thread == thread for r in self.requests)

    def heard(self, thread: str, step: int) -> bool:
        """Whether a conversation has come as far as asking for a step."""
        return any(r.thread == thread and r.step >= step for r in self.requests)

    def answer(self, path: str, body: dict[str, object]) -> Iterator[bytes] | None:
        name = next((end for end in DIALECTS if path.endswith(end)), None)
        if name is None:
            return None
        dialect, model = DIALECTS[name], str(body.get("model", "scripted"))
        heard = dialect.read(body)
        thread, due = self.script.thread(heard.task), heard.due()
        if not heard.tools:  # a title, a summary, a probe: no turn of the conversation
            return dialect.write(turn(Step(text="ok"), 0, dialect.PREFIX), model)
        steps = self.script.steps_of(thread)
        step = steps[due] if due < len(steps) else Step()
        with self._lock:
            self.requests.append(Request(name, thread, due, heard.tools, heard.results, body))
            first = (thread, due) not in self._begun
            self._begun.add((thread, due))
        if first and step.before:
            step.before()
        return dialect.write(turn(step, due, dialect.PREFIX), model)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    llm: ScriptedLlm

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        model = {"id": "scripted", "object": "model", "created": 1, "owned_by": "tests"}
        known = self.path.split("?")[0].endswith("/models")
        self._json(200 if known else 404, {"object": "list", "data": [model] if known else []})

    def do_HEAD(self) -> None:
        self._json(200, None)

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.split("?")[0]
        try:
            parts = self.llm.answer(path, json.loads(raw or b"{}"))
        except Exception as e:
            self.llm.failures.append(f"{path}: {type(e).__name__}: {e}")
            self._json(500, {"error": {"message": str(e)}})
            return
        if parts is None:
            self._json(404, {"error": {"message": f"no such path: {path}"}})
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            for part in parts:
                self.wfile.write(part)
        except OSError:
            pass  # the agent hung up; what it was told earlier is kept
        self.close_connection = True

    def _json(self, status: int, value: object) -> None:
        data = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
