"""`python -m reflexd.engine.serve JSON`: a model behind System One's HTTP face, in the foreground.

`reflexctl serve` becomes this process. The key comes in the environment: what is in argv everybody can read.
"""

from __future__ import annotations

import errno
import functools
import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import Mapping

import msgspec
from msgspec import Struct

from reflexd.engine import images
from reflexd.engine.engine import Engine
from reflexd.engine.http import serve_on
from reflexd.engine.http.security import is_loopback
from reflexd.errors import ReflexError
from reflexd.types import Confidence, Device, EngineInfo, Precision

KEY = "REFLEX_API_KEY"
KEY_MIN = 8
FAILED, INTERRUPTED = 1, 130


class Serving(Struct, frozen=True, forbid_unknown_fields=True):
    """What `reflexctl serve` was told; a field that was not is as the engine has it."""

    model: str
    host: str = "127.0.0.1"
    port: int = 8377
    device: Device | None = None
    precision: Precision | None = None
    precisions: dict[Device, Precision] = {}
    orders: int = 2
    confidence: Confidence = "entropy"
    style: str = "markdown"
    prompt: str | None = None
    calibration: str | None = None
    adapter: str | None = None
    require_fast_kernels: bool = False
    image_roots: tuple[str, ...] = ()


def main(argv: list[str]) -> int:
    asked = msgspec.json.decode(argv[0].encode(), type=Serving)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        serve(asked, os.environ)
    except ReflexError as e:
        print(f"reflexctl: error: {e.message}", file=sys.stderr)
        if e.hint:
            print(f"reflexctl: hint: {e.hint}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    return 0


def serve(asked: Serving, environ: Mapping[str, str]) -> None:
    """Until it is interrupted. Raises ReflexError."""
    key, generated = key_of(environ.get(KEY))
    with listener(asked.host, asked.port) as sock:
        say(f"loading {asked.model}")
        since = time.monotonic()
        with opened(asked) as engine:
            said = engine.info
            say(f"{described(said)}, ready after {time.monotonic() - since:.1f} s")
            if generated:
                say(f"API key of this run: {key} (set {KEY} for one that stays)")
            name = f"[{asked.host}]" if ":" in asked.host else asked.host
            url = f"http://{name}:{sock.getsockname()[1]}"
            names = frozenset() if is_loopback(asked.host) else frozenset({asked.host.lower()})
            resolve = functools.partial(images.resolve, policy=images.Policy(roots=asked.image_roots))
            serve_on(engine, [sock], key, names=names, resolve=resolve, ready=lambda: print(url, flush=True))
            say("stopped")


def opened(asked: Serving) -> Engine:
    precision = asked.precision
    if precision is None and asked.device is not None:
        precision = asked.precisions.get(asked.device)
    return Engine.open(
        asked.model,
        device=asked.device,
        precision=precision,
        orders=asked.orders,
        confidence=asked.confidence,
        style=asked.style,
        prompt_file=asked.prompt,
        calibration_file=asked.calibration,
        adapter=asked.adapter,
        require_fast_kernels=asked.require_fast_kernels,
    )


def key_of(given: str | None) -> tuple[str, bool]:
    """The key, and whether it was made here. Raises ReflexError for one that no header can carry."""
    if not given:
        return secrets.token_urlsafe(24), True
    if len(given) < KEY_MIN or not given.isascii() or not given.isprintable() or " " in given:
        raise ReflexError(
            f"the API key has to be {KEY_MIN} printable ASCII characters or more, without spaces",
            "leave it out, and one is made",
        )
    return given, False


def listener(host: str, port: int) -> socket.socket:
    """Listens already, so that a port in use is known before a model is loaded; requests wait. Raises ReflexError."""
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        sock = socket.socket(family, kind, proto)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(address)
            sock.listen()
        except BaseException:
            sock.close()
            raise
    except socket.gaierror as e:
        raise ReflexError(f"{host} is no address of this machine", "leave --host out for 127.0.0.1") from e
    except OSError as e:
        if e.errno == errno.EADDRINUSE:
            raise ReflexError(f"port {port} is in use", "give --port another one; 0 takes any that is free") from e
        raise ReflexError(f"cannot listen on {host} port {port}: {e.strerror}") from e
    return sock


def described(info: EngineInfo) -> str:
    parts = (
        f"{info.model} on {info.device} in {info.precision}",
        info.strategy,
        info.kernels,
        f"prompt {info.prompt}, {info.orders} orders, confidence {info.confidence}",
        "calibrated" if info.calibrated else "not calibrated",
    )
    return ", ".join(part for part in parts if part)


def say(message: str) -> None:
    print(f"reflexctl: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
