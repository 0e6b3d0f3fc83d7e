"""Refusals as the contract writes them: a list of faults with 422, otherwise an error's type and message.

No body repeats a key, or what a state, an instruction or an option says.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from starlette.responses import Response

from reflexd.engine.errors import Busy, EngineFailed, Invalid, Overloaded, TooLarge
from reflexd.errors import ReflexError

TYPES: Mapping[int, str] = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found",
    405: "method_not_allowed",
    408: "timeout_error",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
"""Every other refusal is an invalid_request_error."""


class Refusal(Exception):
    """A request that ends here. `close`: what is left of its body is not worth reading."""

    def __init__(
        self, status: int, message: str, headers: Mapping[str, str] | None = None, close: bool = False
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = dict(headers or {}) | ({"connection": "close"} if close else {})


def refused(refusal: Refusal) -> Response:
    detail = {"error_type": TYPES.get(refusal.status, "invalid_request_error"), "message": refusal.message}
    return reply(refusal.status, {"detail": detail}, refusal.headers)


def failed(error: ReflexError) -> Response:
    """The reply to a request that the engine, or what checks a body, did not take."""
    match error:
        case Invalid():
            return reply(422, {"detail": [msgspec.to_builtins(fault) for fault in error.faults]})
        case TooLarge():
            return refused(Refusal(413, error.message))
        case Busy():
            waits = {"retry-after-ms": str(error.retry_after_ms), "retry-after": str(-(-error.retry_after_ms // 1000))}
            return refused(Refusal(429, error.message, waits))
        case Overloaded():
            return refused(Refusal(529, error.message))
        case EngineFailed():
            return refused(Refusal(500, error.message))
    return refused(Refusal(500, "the request could not be answered"))


def reply(status: int, body: object, headers: Mapping[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(body), status, headers, "application/json")
