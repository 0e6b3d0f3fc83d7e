"""Redirections: what a command reads instead of its input, and where its output goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reflexd.shell import syntax
from reflexd.shell.calls import Redirect
from reflexd.shell.fields import PIPED, known
from reflexd.shell.heredocs import MARK, STRING

if TYPE_CHECKING:
    from reflexd.shell.script import Script

HEREDOC_PARTS = frozenset({"heredoc_start", "heredoc_body", "heredoc_end", "file_redirect", "herestring_redirect"})


def from_file(script: Script, target: str) -> tuple[str | None, str]:
    """What a redirection from `target` gives, and where that comes from."""
    if target.startswith(PIPED):
        return script.walk.piped(target[1:])
    path = script.shell.path(target)
    held = script.shell.files.get(path)
    if held is None:
        return None, f"file {path}"
    return held.text, "download" if held.downloaded else f"file {path}" if held.text is None else "text"


def fed_by(script: Script, made: Redirect, stdin: str | None, fed: str) -> tuple[str | None, str]:
    """The standard input after one more redirection; other descriptors are kept in mind."""
    number = made.op.rstrip("<&>")
    if made.op in ("<", "0<"):
        return from_file(script, made.target)
    if made.op in ("<&", "0<&"):
        return (None, "") if made.target == "-" else script.shell.descriptors.get(made.target, (None, "pipe"))
    if number and made.op.endswith("<"):
        script.shell.descriptors[number] = from_file(script, made.target)
    return stdin, fed


def file_redirect(script: Script, node: syntax.Node) -> tuple[str | None, Redirect, list[str]]:
    """What is fed in here (a word of shell.heredocs), or the redirection; and the words that the grammar
    took for more of its targets."""
    op = ""
    raws: list[str] = []
    end = -1
    for child in node.children:
        if child.type == "file_descriptor":
            op += script.raw(child)
        elif not child.is_named:
            op += child.type
        elif child.type != "comment":
            if child.start_byte == end:
                raws[-1] += script.raw(child)
            else:
                raws.append(script.raw(child))
            end = child.end_byte
    here = raws[0] if raws and raws[0][:1] in (MARK, STRING) else None
    if here is not None:
        return here, Redirect(op, ""), [field for raw in raws[1:] for field in script.expander.fields(raw)]
    targets = [field for raw in raws for field in (script.expander.fields(raw) or [""])]
    return None, Redirect(op, targets[0] if targets else ""), targets[1:]


def heredoc(script: Script, node: syntax.Node) -> str | None:
    start = next((c for c in node.named_children if c.type == "heredoc_start"), None)
    body = next((c for c in node.named_children if c.type == "heredoc_body"), None)
    if start is None or body is None:
        return None
    raw = script.raw(body)
    if node.children and script.raw(node.children[0]).endswith("-"):
        raw = "\n".join(line.lstrip("\t") for line in raw.split("\n"))
    quoted = any(c in script.raw(start) for c in "'\"\\")
    return raw if quoted else script.expander.heredoc(raw)


def here(script: Script, raw: str) -> str | None:
    """The text of a here-document or here-string that was cut out."""
    if raw.startswith(MARK):
        body = script.walk.heredocs[int(raw[1:])]
        return body.text if body.quoted else script.expander.heredoc(body.text)
    text = script.expander.text(raw[1:])
    return text + "\n" if known(text) else None


def flat(node: syntax.Node) -> list[syntax.Node]:
    """The redirections of a statement, with those that the grammar hangs under a here-document."""
    found: list[syntax.Node] = []
    for child in node.children_by_field_name("redirect"):
        found.append(child)
        if child.type == "heredoc_redirect":
            found.extend(c for c in child.named_children if c.type in ("file_redirect", "herestring_redirect"))
    return found
