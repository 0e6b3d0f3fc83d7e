"""What the engine is asked in the benchmark: a support ticket of some 300 tokens with six questions, or one of them."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from reflexd.engine import schema
from reflexd.types import Request

FILE = Path(__file__).parent / "data" / "ticket.json"


def ticket(orders: int) -> Request:
    return msgspec.structs.replace(schema.parse(FILE.read_bytes()).request(), permutations=orders)


def fresh(request: Request, number: int) -> Request:
    """The same with a state that no engine has seen: it differs from its first word on."""
    assert isinstance(request.state, dict)
    return msgspec.structs.replace(request, state={"ticket": f"{number} {request.state['ticket']}"})


def alone(request: Request, number: int) -> Request:
    """One of its questions."""
    return msgspec.structs.replace(request, questions=(request.questions[number % len(request.questions)],))


def body(number: int | None = None) -> bytes:
    """The ticket as an HTTP body, with a state of its own where a number is given. One order: what the others do."""
    given = json.loads(FILE.read_bytes()) | {"permutations": 1}
    if number is not None:
        given["state"]["ticket"] = f"{number} {given['state']['ticket']}"
    return json.dumps(given).encode()
