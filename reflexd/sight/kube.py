"""A kubeconfig: which cluster a context leads to, and which contexts start a program to log in. Parsed, never run.

YAML is read as a stream of events with a budget: no aliases, no tags, no more nesting and no more values than
such a file really has. One that wants more is not understood.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from reflexd.sight import disk
from reflexd.sight.disk import Unread
from reflexd.types import Context, Sighting

FILE_MAX = 256 * 1024  # bytes: a hundred clusters with their certificates
EVENTS_MAX = 6000
DEPTH_MAX = 12
CONTEXTS_MAX = 200

Node = str | list["Node"] | dict[str, "Node"]


class _Odd(Exception):
    """The file is not one that kubectl writes."""


def sighting(path: str, context: Context) -> Sighting:
    """`pairs`: current-context, and for each context NAME cluster:NAME, namespace:NAME, server:NAME, exec:NAME."""
    read = disk.read(path, FILE_MAX)
    if isinstance(read, Unread):
        return Sighting(problem=read.why)
    return _sighting(read)


@functools.lru_cache(maxsize=16)
def _sighting(data: bytes) -> Sighting:
    """The same bytes mean the same; reading YAML is slow."""
    try:
        tree = _tree(data.decode())
        return Sighting(pairs=tuple(_pairs(tree)))
    except (_Odd, YAMLError, UnicodeDecodeError, ValueError, RecursionError):
        return Sighting(problem="malformed")


def _pairs(tree: Node) -> Iterator[tuple[str, str]]:
    top = _mapping(tree)
    yield "current-context", _text(top.get("current-context", ""))
    clusters = _named(top.get("clusters", []), "cluster")
    users = _named(top.get("users", []), "user")
    contexts = _named(top.get("contexts", []), "context")
    if len(contexts) > CONTEXTS_MAX:
        raise _Odd
    for name, one in contexts.items():
        cluster, user = _text(one.get("cluster", "")), _text(one.get("user", ""))
        yield f"cluster:{name}", cluster
        yield f"namespace:{name}", _text(one.get("namespace", ""))
        yield f"server:{name}", _text(clusters.get(cluster, {}).get("server", ""))
        yield f"exec:{name}", _starts(users.get(user)) if user else ""


def _starts(user: dict[str, Node] | None) -> str:
    """The program that logs a user in, "?" where the user is described in another file."""
    if user is None:
        return "?"
    if "exec" in user:
        return _text(_mapping(user["exec"]).get("command", "?"))
    if "auth-provider" in user:
        return _text(_mapping(_mapping(user["auth-provider"]).get("config", {})).get("cmd-path", ""))
    return ""


def _named(entries: Node, key: str) -> dict[str, dict[str, Node]]:
    found: dict[str, dict[str, Node]] = {}
    for entry in entries if isinstance(entries, list) else []:
        one = _mapping(entry)
        # The first of a name holds, as in kubectl.
        found.setdefault(_text(one.get("name", "")), _mapping(one.get(key, {})))
    return found


def _mapping(node: Node) -> dict[str, Node]:
    if isinstance(node, dict):
        return node
    if node in ("", "null", "~"):
        return {}
    raise _Odd


def _text(node: Node) -> str:
    if not isinstance(node, str):
        raise _Odd
    return "" if node in ("null", "~") else node


def _tree(text: str) -> Node:
    root: list[Node] = []
    open_nodes: list[tuple[Node, list[str]]] = [(root, [])]  # with the key that waits for its value
    for number, event in enumerate(_events(text)):
        if number > EVENTS_MAX or len(open_nodes) > DEPTH_MAX:
            raise _Odd
        if isinstance(event, AliasEvent):
            raise _Odd
        if isinstance(event, ScalarEvent):
            _put(open_nodes[-1], event.value)
        elif isinstance(event, MappingStartEvent | SequenceStartEvent):
            made: Node = {} if isinstance(event, MappingStartEvent) else []
            _put(open_nodes[-1], made)
            open_nodes.append((made, []))
        elif isinstance(event, MappingEndEvent | SequenceEndEvent):
            open_nodes.pop()
    return root[0] if root else {}


def _put(into: tuple[Node, list[str]], value: Node) -> None:
    holder, waiting = into
    if isinstance(holder, list):
        holder.append(value)
    elif isinstance(holder, dict) and waiting:
        holder[waiting.pop()] = value
    elif isinstance(value, str):
        waiting.append(value)
    else:
        raise _Odd


def _events(text: str) -> Iterator[Any]:
    return iter(YAML(typ="safe", pure=True).parse(text))
