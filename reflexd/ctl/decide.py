"""A request of System One from the shell, answered by the daemon's engine or any other server."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

import msgspec

from reflexd import paths
from reflexd.client import Client
from reflexd.errors import ReflexError, Unreachable
from reflexd.systemone import SystemOne

EXAMPLE = "reflexctl decide request.json"
KEY = "REFLEX_API_KEY"
BAR = 24


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE|-", help="a request of /v1/systemone as JSON; - reads standard input")
    parser.add_argument("--url", default="", help=f"another server than the daemon's engine; its key is in {KEY}")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="S", help="seconds to wait (default 60)")
    parser.add_argument("--json", action="store_true", help="the reply as it came")


def run(args: argparse.Namespace) -> int:
    body = _read(args.file)
    base = paths.home()
    if args.url:
        server = SystemOne(args.url, os.environ.get(KEY, ""), timeout_s=args.timeout)
    else:
        server = SystemOne.local(base, args.timeout)
        ready(base)
    reply = server.send(body)
    print(reply.decode() if args.json else _text(msgspec.json.decode(reply)))
    return 0


def _read(name: str) -> bytes:
    try:
        if name == "-":
            return sys.stdin.buffer.read()
        with open(name, "rb") as file:
            return file.read()
    except OSError as e:
        raise ReflexError(f"{name} cannot be read: {e.strerror}") from e


def ready(base: str) -> None:
    """Raises ReflexError with what is missing, which the socket alone would not tell."""
    engine = Client(base).status().engine
    if engine.state == "off":
        raise ReflexError("there is no model in use", "reflexctl model use DIR|ID|FILE.gguf")
    if engine.state == "down":
        raise ReflexError(f"the engine is down: {engine.why}", "reflexctl model use, or reflexctl restart")
    if engine.state != "ready":
        raise Unreachable(f"the engine is not ready yet ({engine.state})", "try again in a moment")


def _text(reply: dict[str, Any]) -> str:
    lines: list[str] = []
    for name, answer in reply["answers"].items():
        match answer:
            case {"type": "noul", "noul": p}:
                lines.append(f"{name}: {'yes' if p >= 0.5 else 'no'}  {_bar('yes', p)}")
            case {"type": "choice", "choice": choice, "probabilities": found, "confidence": sure}:
                lines.append(f"{name}: {choice} (confidence {sure:.2f})")
                lines += [f"  {_bar(key, p)}" for key, p in sorted(found.items(), key=lambda pair: -pair[1])[:10]]
            case {"type": "score", "score": score, "probabilities": found, "legend": legend, "confidence": sure}:
                lines.append(f"{name}: {score:.2f} (confidence {sure:.2f})")
                lines += [f"  {_bar(f'{level} {legend[level]}', p)}" for level, p in found.items()]
    usage = reply["usage"]
    lines.append(f"{usage['input_tokens']} tokens; model {reply['model']}")
    return "\n".join(lines)


def _bar(name: str, p: float) -> str:
    return f"{p:6.3f} {'#' * round(p * BAR):<{BAR}} {name}"
