"""How a case gets to a stronger judge: an HTTP endpoint of one of two kinds, or a program that answers on its stdout.

Each blocks for as long as it is given, and raises SecondFailed for whatever goes wrong. No error holds a key or a case.
Facts: the two HTTP bodies as their vendors document them (chat completions; messages, version 2023-06-01).
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import selectors
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from reflexd.judge.second.case import Case
from reflexd.judge.second.settings import Tier

REPLY_MAX = 1 << 16
TOKENS_OUT = 200


class SecondFailed(Exception):
    """Why there is no answer, in words without the case or the key."""


def send(tier: Tier, case: Case, key: str, timeout_s: float) -> str:
    """What the tier said, as it said it."""
    return KINDS[tier.kind](tier, case, key, timeout_s)


def _openai(tier: Tier, case: Case, key: str, timeout_s: float) -> str:
    messages = [{"role": "system", "content": case.system}, {"role": "user", "content": case.text}]
    body = {"model": tier.model, "messages": messages, "max_tokens": TOKENS_OUT, "temperature": 0}
    headers = {"authorization": f"Bearer {key}"} if key else {}
    said = _post(tier.url.rstrip("/") + "/chat/completions", body, headers, timeout_s)
    return _text(lambda: said["choices"][0]["message"]["content"])


def _anthropic(tier: Tier, case: Case, key: str, timeout_s: float) -> str:
    system = [{"type": "text", "text": case.system, "cache_control": {"type": "ephemeral"}}]
    messages = [{"role": "user", "content": case.text}]
    body = {"model": tier.model, "system": system, "messages": messages, "max_tokens": TOKENS_OUT}
    headers = {"anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})}
    said = _post(tier.url.rstrip("/") + "/v1/messages", body, headers, timeout_s)
    if not isinstance(said, dict) or said.get("stop_reason") not in ("end_turn", None):
        raise SecondFailed("it did not come to its end")
    return _text(lambda: "".join(block["text"] for block in said["content"] if block["type"] == "text"))


def _program(tier: Tier, case: Case, key: str, timeout_s: float) -> str:
    """In an empty directory with no variables but PATH, HOME and what names the key; its whole group ends with it."""
    with tempfile.TemporaryDirectory(prefix="reflex-second-") as empty:
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": tier.home or empty, "LANG": "C.UTF-8"}
        try:
            process = subprocess.Popen(
                [*tier.command, f"{case.system}\n\n{case.text}"],
                cwd=empty,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as e:
            raise SecondFailed(f"{tier.command[0]} does not start: {e.strerror}") from e
        try:
            out = _output(process, time.monotonic() + timeout_s)
        except TimeoutError:
            raise SecondFailed(f"no answer within {timeout_s:g} s") from None
        finally:
            _end(process)
        if len(out) > REPLY_MAX:
            raise SecondFailed("it said too much")
        if process.returncode != 0:
            raise SecondFailed(f"{tier.command[0]} ended with {process.returncode}")
        return out.decode("utf-8", "replace").strip()


KINDS: Mapping[str, Callable[[Tier, Case, str, float], str]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "program": _program,
}


def _output(process: subprocess.Popen[bytes], ends: float) -> bytes:
    """What it prints until it ends, or little more than REPLY_MAX of it; TimeoutError once `ends` is past."""
    out = b""
    assert process.stdout is not None
    with process.stdout as pipe, selectors.DefaultSelector() as ready:
        ready.register(pipe, selectors.EVENT_READ)
        while len(out) <= REPLY_MAX:
            if not ready.select(max(ends - time.monotonic(), 0)):
                raise TimeoutError
            part = os.read(pipe.fileno(), REPLY_MAX)
            if not part:
                break
            out += part
    if len(out) <= REPLY_MAX:
        try:
            process.wait(max(ends - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
    return out


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _post(url: str, body: object, headers: dict[str, str], timeout_s: float) -> Any:
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=timeout_s)
    ends = time.monotonic() + timeout_s
    try:
        connection.connect()
        with _until(connection.sock, ends):
            connection.request("POST", parts.path, json.dumps(body), {"content-type": "application/json", **headers})
            response = connection.getresponse()
            data = response.read(REPLY_MAX + 1)
        if time.monotonic() >= ends:
            raise TimeoutError
    except (OSError, http.client.HTTPException, ValueError) as e:
        if isinstance(e, TimeoutError) or time.monotonic() >= ends:
            raise SecondFailed(f"no answer within {timeout_s:g} s") from None
        raise SecondFailed(f"{parts.hostname} does not answer: {type(e).__name__}") from None
    finally:
        connection.close()
    if response.status != 200:
        raise SecondFailed(f"{parts.hostname} refused ({response.status})")
    if len(data) > REPLY_MAX:
        raise SecondFailed("it said too much")
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise SecondFailed("its reply is no JSON") from None


@contextlib.contextmanager
def _until(sock: socket.socket, ends: float) -> Iterator[None]:
    """Hangs up at `ends`: a socket's own timeout is for each read alone, and one that drips would hold for ever."""
    # The plain shutdown: a TLS socket's own one also drops what the reading thread is using.
    over = threading.Timer(max(ends - time.monotonic(), 0), _hang_up, (sock,))
    over.daemon = True
    over.start()
    try:
        yield
    finally:
        over.cancel()


def _hang_up(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        socket.socket.shutdown(sock, socket.SHUT_RDWR)


def _text(take: Callable[[], object]) -> str:
    try:
        found = take()
    except (LookupError, TypeError):
        found = None
    if not isinstance(found, str):
        raise SecondFailed("its reply holds no text")
    return found
