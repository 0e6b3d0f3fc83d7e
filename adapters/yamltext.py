"""A name in `plugins.enabled` of a YAML text: in, out, and nothing else.

Lines are spliced, never written back by a YAML library, which would re-indent a person's lists and
move his comments. What comes out is read again and must differ from what went in by that name alone;
where a file is written in a way that this cannot be done for, it is left to the person.
"""

from __future__ import annotations

import re
from typing import Any

from reflexd.errors import ReflexError

Root = dict[str, Any]
_FLOW = re.compile(r"\[(\s*)([^\[\]#]*?)(\s*)\]")


def load(path: str, current: bytes | None) -> Root:
    """The document as plain values, {} for an empty one. Raises ReflexError."""
    from ruamel.yaml import YAML

    try:
        text = (current or b"").decode("utf-8")
        root = YAML(typ="safe", pure=True).load(text)
    except Exception as e:
        # ruamel raises whatever comes up on a strange document: ValueError on a bad date, RecursionError, ...
        line = getattr(getattr(e, "problem_mark", None), "line", None)
        where = "" if line is None else f", at line {line + 1}"
        raise ReflexError(f"{path} is not readable YAML{where}", "repair it, then run reflexctl setup again") from e
    if root is None:
        return {}
    if not isinstance(root, dict):
        raise ReflexError(f"{path} does not hold a mapping", "repair it, then run reflexctl setup again")
    return root


def enable(path: str, current: bytes | None, name: str) -> bytes:
    """The file with `name` among plugins.enabled. Raises ReflexError where it has to be done by hand."""
    root = load(path, current)
    if name in _names(root):
        return current or b""
    text = (current or b"").decode("utf-8")
    after = _put(text, root, name)
    if after is None or not _means(path, after, _with(root, [*_names(root), name])):
        raise ReflexError(
            f"{path} is written in a way that reflex does not edit",
            f"add {name} to the list plugins.enabled yourself, then run reflexctl setup again",
        )
    return after.encode()


def disable(path: str, current: bytes | None, name: str) -> bytes | None:
    """The file without `name` among plugins.enabled; None if nothing is left of it."""
    if current is None:
        return None
    root = load(path, current)
    if name not in _names(root):
        return current
    after = _take(current.decode("utf-8"), root, name)
    if after is None or not _means(path, after, _with(root, [n for n in _names(root) if n != name])):
        raise ReflexError(
            f"{path} is written in a way that reflex does not edit",
            f"take {name} out of the list plugins.enabled yourself",
        )
    return after.encode() or None


def _names(root: Root) -> list[Any]:
    plugins = root.get("plugins")
    enabled = plugins.get("enabled") if isinstance(plugins, dict) else None
    return enabled if isinstance(enabled, list) else []


def _with(root: Root, names: list[Any]) -> Root:
    """`root` with these names, an empty list and an empty section being the same as none."""
    plugins = root.get("plugins")
    if plugins is not None and not isinstance(plugins, dict):
        return root
    rest = {key: value for key, value in (plugins or {}).items() if key != "enabled"}
    section = {**rest, "enabled": names} if names else rest
    others = {key: value for key, value in root.items() if key != "plugins"}
    return {**others, "plugins": section} if section else others


def _means(path: str, text: str, wanted: Root) -> bool:
    try:
        root = load(path, text.encode())
    except ReflexError:
        return False
    # As text: a document may hold itself through an alias, and not-a-number is unequal to itself.
    return repr(_with(root, _names(root))) == repr(wanted)


def _section(name: str, newline: str) -> str:
    return newline.join(("plugins:", "  enabled:", f"    - {name}"))


def _put(text: str, root: Root, name: str) -> str | None:
    newline = _newline(text)
    if "plugins" not in root:
        ends = not text or text.endswith("\n")
        return text + _section(name, newline) + newline if ends else text + newline + _section(name, newline)
    lines, at = text.splitlines(keepends=True), _spots(text)
    if at is None:
        return None
    section, enabled, items = at
    if items:
        return _after(lines, items[-1], [_indent(lines[items[-1]]) + f"- {name}"], newline)
    if enabled is not None:
        flow = _FLOW.sub(lambda m: f"[{m[1]}{_more(m[2], name)}{m[3]}]", lines[enabled], count=1)
        if flow != lines[enabled]:
            return "".join([*lines[:enabled], flow, *lines[enabled + 1 :]])
        return _after(lines, enabled, [_indent(lines[enabled]) + f"  - {name}"], newline)
    flow = re.sub(r"\{\s*\}", f"{{enabled: [{name}]}}", lines[section], count=1)
    if flow != lines[section]:
        return "".join([*lines[:section], flow, *lines[section + 1 :]])
    plugins = root["plugins"]
    indent = _indent(lines[section + 1]) if plugins and section + 1 < len(lines) else "  "
    return _after(lines, section, [f"{indent}enabled:", f"{indent}  - {name}"], newline)


def _take(text: str, root: Root, name: str) -> str | None:
    newline = _newline(text)
    if text.endswith(_section(name, newline) + newline):
        return text.removesuffix(_section(name, newline) + newline)
    if text.endswith(newline + _section(name, newline)):
        return text.removesuffix(newline + _section(name, newline))
    lines, at = text.splitlines(keepends=True), _spots(text)
    if at is None:
        return None
    section, enabled, items = at
    ours = re.compile(rf"\s*-\s+(['\"]?){re.escape(name)}\1\s*(?:#.*)?$")
    spot = next((line for line in items if ours.match(lines[line])), None)
    if spot is not None and enabled is not None:
        gone = {spot} if len(items) > 1 else {spot, enabled}
        if len(items) == 1 and len(root["plugins"]) == 1:
            gone.add(section)
        kept = "".join(line for number, line in enumerate(lines) if number not in gone)
        return kept if text.endswith("\n") else kept.removesuffix(newline)
    if enabled is not None:
        word = rf"(?<=[\[,\s])(?:{re.escape(name)}|'{re.escape(name)}'|\"{re.escape(name)}\")"
        flow = re.sub(rf"{word}\s*,\s*|(?:,\s*)?{word}(?=\s*\])", "", lines[enabled], count=1)
        return "".join([*lines[:enabled], flow, *lines[enabled + 1 :]])
    return None


def _spots(text: str) -> tuple[int, int | None, list[int]] | None:
    """The lines of `plugins`, of its `enabled`, and of that block list's items."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        root: Any = YAML().load(text)
        section = root.lc.key("plugins")[0]
        if "enabled" not in (root["plugins"] or ()):
            return section, None, []
        line, enabled = root["plugins"].lc.key("enabled")[0], root["plugins"]["enabled"]
        if not enabled or enabled.fa.flow_style():
            return section, line, []
        return section, line, [enabled.lc.item(n)[0] for n in range(len(enabled))]
    except (YAMLError, KeyError, AttributeError):
        return None


def _after(lines: list[str], at: int, new: list[str], newline: str) -> str:
    """`lines` with `new` after line `at`, which may be the last one and lack its newline."""
    if lines[at].endswith("\n"):
        return "".join([*lines[: at + 1], *(line + newline for line in new), *lines[at + 1 :]])
    return "".join([*lines[: at + 1], *(newline + line for line in new)])


def _more(inner: str, name: str) -> str:
    return f"{inner}, {name}" if inner else name


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" "))]


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
