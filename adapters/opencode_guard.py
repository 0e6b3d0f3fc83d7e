"""Our entry under `permission` in opencode.json: in, out, and nothing else.

Of permission entries the last that matches holds, so ours is always put last.
"""

from __future__ import annotations

from reflexd.adapters.jsontext import BadJson, Node, cut, insert, parse, plain, replace
from reflexd.errors import ReflexError
from reflexd.shims import OPENCODE_GUARD

EMPTY = "{}\n"
REPAIR = "repair it, then run reflexctl setup again"


def add(path: str, current: bytes | None) -> bytes | None:
    """The file with the guard as the last of its permissions. Raises ReflexError where it cannot be edited."""
    text, top = root(path, current)
    permission = top.get("permission")
    if permission is not None and permission.kind == "object":
        if list(_members(permission).items())[-len(OPENCODE_GUARD) :] == list(OPENCODE_GUARD.items()):
            return current
        text = (remove(path, current) or EMPTY.encode()).decode("utf-8")
    elif permission is not None and permission.kind == "scalar":
        # One word for every tool is short for an object with a "*".
        own = {} if permission.value is None else {"*": permission.value}
        text = replace(text, permission, own)
    elif permission is not None:
        raise ReflexError(f'{path}: "permission" is neither a word nor an object', REPAIR)
    for key, value in OPENCODE_GUARD.items():
        top = parse(text)
        known = top.get("permission")
        text = insert(text, top, {key: value}, "permission") if known is None else insert(text, known, value, key)
    return text.encode()


def remove(path: str, current: bytes | None) -> bytes | None:
    """The file without the guard; None if nothing is left of it."""
    if current is None:
        return None
    text, _ = root(path, current)
    for key in OPENCODE_GUARD:
        top = parse(text)
        permission = top.get("permission")
        if permission is None or permission.kind != "object" or key not in permission.keys:
            continue
        at = top.keys.index("permission")
        if len(permission.items) > 1 or "/" in text[top.starts[at] : permission.end]:
            text = cut(text, permission, permission.keys.index(key))
        else:
            # Nothing in it but ours, not even a comment.
            text = cut(text, top, at)
    return None if text == EMPTY else text.encode()


def root(path: str, current: bytes | None) -> tuple[str, Node]:
    """The file's text and what it says. Raises ReflexError."""
    try:
        text = current.decode("utf-8") if current and current.strip() else EMPTY
        top = parse(text)
    except (BadJson, UnicodeDecodeError) as e:
        raise ReflexError(f"{path} is {e}", REPAIR) from e
    if top.kind != "object":
        raise ReflexError(f"{path} does not hold a JSON object", REPAIR)
    return text, top


def _members(node: Node) -> dict[str, object]:
    members = plain(node)
    return members if isinstance(members, dict) else {}
