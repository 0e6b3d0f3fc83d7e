"""One request to a web service: what it does there, and what of this machine it carries along.

What a service does on a request is its own affair; a method, a GraphQL mutation and the words of an address
are what can be told from here. A service on this machine is a service under work.
"""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from reflexd.shell.fields import UNKNOWN, shown
from reflexd.shell.places import Ground
from reflexd.shell.realms import means_production, ordinary
from reflexd.types import Effect, EffectKind, Place

_LOCAL = re.compile(
    r"(?:localhost|(?:[\w-]+\.)*(?:localhost|localdomain|test|example\.test)|0(?:\.0){0,3}|127(?:\.\d+){1,3}|\[?::1?\]?"
    r"|host\.docker\.internal)\.?\Z",
    re.IGNORECASE,
)
_MUTATION = re.compile(
    r"\bmutation\b ?(?:\w{1,200} ?)?(?:\([^)]{0,2000}\) ?)?(?:@\w{1,100}(?:\([^)]{0,500}\))? ?){0,9}\{", re.IGNORECASE
)
"""In text whose white space is single blanks: a pattern that skips blanks three times over takes for ever."""
_FIELD = re.compile(r"([A-Za-z_]\w*)\s*(?=[({:])")
_DESTROYS = re.compile(
    r"(?:delete|destroy|drop|purge|terminate|truncate|wipe|erase|nuke|deprovision|decommission|uninstall)"
    r"(?![a-z])|(?:^|_)(?:remove|teardown)(?![a-z])"
)
SAFE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "CONNECT"})
BODY_MAX = 64 * 1024
ENGINE_SOCKET = re.compile(r"(?:^|/)(?:docker|containerd|podman|crio|dockershim)\.sock\Z|^/(?:var/)?run(?:/docker)?\Z")
"""Where a container engine listens, and the directories that hold it."""


class Request(Struct, frozen=True):
    """`body` is what is known of the text sent along; `signed`: it carries a key, a token or a password."""

    url: str
    method: str
    body: str = ""
    signed: bool = False


def host(url: str) -> str:
    """The host that a URL names, in lower case; with or without a scheme."""
    text = shown(url)
    try:
        found = urlsplit(text if "://" in text else f"http://{text}").hostname
    except ValueError:
        return ""
    return (found or "").lower()


def is_local(url: str) -> bool:
    return bool(_LOCAL.match(host(url))) or shown(url).startswith((":", "/"))


def lies(url: str, ground: Ground) -> tuple[Place, ...]:
    """Where what a URL names is kept."""
    if is_local(url):
        return ("service",)
    return ("elsewhere", "production") if means_production(host(url), ground) else ("elsewhere",)


def effects(request: Request, program: str, ground: Ground) -> list[Effect]:
    """What a service is asked to do; nothing for a request that only asks."""
    does = _does(request)
    if does is None:
        return []
    kind, certain = does
    where = lies(request.url, ground)
    if "service" in where:
        kind = "change"
    elif not certain and "production" not in where and not ordinary(host(request.url)):
        where = (*where, "unknown")
    named = f"{request.method} {shown(request.url).partition('?')[0]}"
    return [Effect(kind, named, where, detail=program)]


def _does(request: Request) -> tuple[EffectKind, bool] | None:
    """The kind, and whether it is ordinary even where nothing says whose service it is."""
    if request.method in SAFE:
        return None
    mutates = mutation(request.body)
    if mutates is not None:
        return mutates, mutates == "destroy" or not request.signed
    if "graphql" in request.url.lower() and UNKNOWN in request.body:
        return "change", not request.signed
    if re.search(r'"(?:query|operationName)"\s*:', request.body[:BODY_MAX]) and "graphql" in request.url.lower():
        return None  # a question, asked with POST
    if request.method == "DELETE" or _path_destroys(request.url):
        return "destroy", True
    return "change", not (request.signed and request.method in ("PUT", "PATCH"))


def mutation(body: str) -> EffectKind | None:
    """What a GraphQL text changes; None where it changes nothing or is no such text."""
    text = re.sub(r"\s+", " ", body[:BODY_MAX].replace('\\"', '"').replace("\\n", " "))
    found = _MUTATION.search(text)
    if found is None:
        return None
    called = _FIELD.findall(text, found.end())
    return "destroy" if any(destroys(name) for name in called) else "change"


def destroys(name: str) -> bool:
    """Whether a name of an operation says that something goes: volumeDelete, delete_all, DROP-TABLE."""
    spread = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace("-", "_")
    return _DESTROYS.search(spread) is not None


def _path_destroys(url: str) -> bool:
    try:
        path = urlsplit(shown(url) if "://" in url else f"http://{shown(url)}").path
    except ValueError:
        return False
    return any(destroys(segment) for segment in unquote(path).split("/") if len(segment) < 60)
