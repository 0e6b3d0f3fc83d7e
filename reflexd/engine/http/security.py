"""Who may ask: pure checks of a request's head. A Unix socket is its owner's by its mode; TCP takes a key."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Sequence

from msgspec import Struct

from reflexd.engine.http.refusals import Refusal

OPEN = ("/health", "/healthz")
METHODS = ("GET", "HEAD", "POST")

Headers = Sequence[tuple[bytes, bytes]]
"""As ASGI gives them: names in lower case."""


class Head(Struct, frozen=True):
    """`server`: the address the request came in at; None for a Unix socket."""

    method: str
    path: str
    headers: Headers
    server: tuple[str, int] | None


def check(head: Head, key: str | None, names: frozenset[str] = frozenset()) -> None:
    """Raises Refusal. `names`: hosts that are this server's besides loopback and the address itself."""
    if b"websocket" in b",".join(values(head.headers, b"upgrade")).lower():
        raise Refusal(400, "websockets are not served here", close=True)
    if head.method not in METHODS:
        raise Refusal(405, "only GET and POST are served here", {"allow": "GET, POST"}, close=True)
    if values(head.headers, b"origin") or values(head.headers, b"sec-fetch-site") not in ([], [b"none"]):
        raise Refusal(403, "requests of web pages are not served", close=True)
    if head.server is None:
        return
    if not _is_ours(values(head.headers, b"host"), head.server, names):
        raise Refusal(403, "the Host header does not name this server: use the address it printed", close=True)
    if head.path not in OPEN and not _has_key(values(head.headers, b"authorization"), key):
        given = bool(values(head.headers, b"authorization"))
        said = "this is not the API key" if given else "an API key is needed: Authorization: Bearer KEY"
        raise Refusal(401, said, {"www-authenticate": "Bearer"}, close=True)


def values(headers: Headers, name: bytes) -> list[bytes]:
    return [value for one, value in headers if one == name]


def _is_ours(hosts: list[bytes], server: tuple[str, int], names: frozenset[str]) -> bool:
    """A page that rebinds its own name to loopback still sends its own name: only ours pass, at the served port."""
    if len(hosts) != 1:
        return False
    host, port = _split(hosts[0].decode("latin-1").lower())
    if port != server[1]:
        return False
    if host in names or host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
        return address.is_loopback or address == ipaddress.ip_address(server[0])
    except ValueError:
        return False


def _split(host: str) -> tuple[str, int | None]:
    name, colon, port = host.rpartition(":")
    if not colon or (host.startswith("[") and host.endswith("]")):
        name, port = host, "80"
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1]
    return name, int(port) if port.isascii() and port.isdigit() and len(port) <= 5 else None


def _has_key(given: list[bytes], key: str | None) -> bool:
    """Takes as long for a wrong key as for the right one. Without a key nobody gets in."""
    if key is None or len(given) != 1:
        return False
    scheme, _, told = given[0].partition(b" ")
    if scheme.lower() != b"bearer":
        return False
    return hmac.compare_digest(hashlib.sha256(told.strip()).digest(), hashlib.sha256(key.encode()).digest())


def is_loopback(host: str) -> bool:
    """Does a socket bound to `host` only hear this machine?"""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
