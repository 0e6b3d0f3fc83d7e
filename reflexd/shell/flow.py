"""What runs after what: sequences, && and ||, conditions, loops, pipelines.

A path that may or may not be taken leaves behind only what all paths agree on; the rest is not known. What is
printed on such a path is not known either, unless it is nothing.
"""

from __future__ import annotations

import posixpath
from itertools import pairwise
from typing import TYPE_CHECKING

from reflexd.shell import syntax
from reflexd.shell.calls import Call
from reflexd.shell.fields import UNKNOWN, known
from reflexd.shell.known import DOWNLOADERS
from reflexd.shell.options import names
from reflexd.shell.state import Shell, Written

if TYPE_CHECKING:
    from reflexd.shell.script import Script

LOOP_MAX = 16
_SURE = names(": true echo printf export set local declare typeset shopt")
_MOVES, _TELLS = names("cd pushd"), names("pwd dirname realpath readlink basename")
_LOOKS_UP = names("command which type")
_JUMPS = names("break continue return exit")
_CAT = frozenset({"cat"})
_DECODERS = frozenset({"base64", "base32", "xxd", "tr", "rev", "rot13", "openssl", "uudecode"})


def sequence(script: Script, node: syntax.Node, stdin: str | None, fed: str, nest: int) -> str | None:
    return _nodes(script, node, node.named_children, stdin, fed, nest)


def _nodes(
    script: Script, parent: syntax.Node, nodes: list[syntax.Node], stdin: str | None, fed: str, nest: int
) -> str | None:
    """One after the other; `nodes` are children of `parent`."""
    printed: str | None = ""
    background = _in_background(parent)
    for child in nodes:
        # What runs in the background runs in a shell of its own.
        within = script.sub(script.shell.copy()) if child.id in background else script
        printed = _joined(printed, within.node(child, stdin, fed, nest))
    return printed


def _in_background(parent: syntax.Node) -> frozenset[int]:
    """The nodes before an &. Asking each for its sibling would walk all of them for every one."""
    return frozenset(one.id for one, after in pairwise(parent.children) if after.type == "&")


def _joined(first: str | None, second: str | None) -> str | None:
    """One output after the other; what is known stays visible beside what is not."""
    if not first and not second:
        return None if first is None or second is None else ""
    return (f"{UNKNOWN}\n" if first is None else first) + (f"{UNKNOWN}\n" if second is None else second)


def chain(script: Script, node: syntax.Node, stdin: str | None, fed: str, nest: int) -> str | None:
    """`a && b || c`: left to right, each from where its left side leaves the shell when it succeeds, or fails."""
    rest: list[tuple[str, syntax.Node]] = []
    while node.type == "list":
        script.walk.count()
        parts = [child for child in node.children if child.type != "comment"]
        if len(parts) != 3 or parts[1].type not in ("&&", "||"):
            break
        rest.append((parts[1].type, parts[2]))
        node = parts[0]
    if not rest:
        return sequence(script, node, stdin, fed, nest)
    shell, walk = script.shell, script.walk
    start = len(walk.calls)
    output = script.node(node, stdin, fed, nest) if node.type != "list" else sequence(script, node, stdin, fed, nest)
    files = dict(shell.files)
    good, bad = shell.copy(), shell.copy()
    for operator, right in reversed(rest):
        shell.become(good if operator == "&&" else bad)
        before = len(walk.calls)
        more = script.node(right, stdin, fed, nest)
        output = _either(operator, output, more, walk.calls[start:before], walk.calls[before:])
        if operator == "&&":
            good, bad = shell.copy(), _merged(bad, shell)
        else:
            good, bad = _merged(good, shell), shell.copy()
    shell.become(_merged(good, bad))
    _unsettle(shell, files)
    return output


def _merged(first: Shell, second: Shell) -> Shell:
    both = first.copy()
    both.merge([first, second])
    return both


def _either(operator: str, left: str | None, right: str | None, before: list[Call], then: list[Call]) -> str | None:
    """What `left && right` or `left || right` prints, given which commands the two ran."""
    if right == "":
        return left
    names_before = {call.name for call in before}
    if names_before <= _SURE:
        return _joined(left, right) if operator == "&&" else left
    if operator == "&&" and names_before <= _SURE | _MOVES | _TELLS and {call.name for call in then} <= _TELLS:
        return _joined(left, right)  # `cd "$(dirname "$0")" && pwd`
    looked_up = names_before | {call.name for call in then} <= _LOOKS_UP
    if operator == "||" and left and right and looked_up and _program(left) == _program(right):
        return left  # `command -v python3 || command -v python`
    return None


def _program(path: str) -> str:
    return path.strip().rpartition("/")[2].rstrip("0123456789.")


def _unsettle(shell: Shell, before: dict[str, Written]) -> None:
    """Files written over on a path that may not have been taken: what they hold is not known."""
    for path, held in before.items():
        now = shell.files.get(path, held)
        if now is not held:
            shell.files[path] = Written(None, now.downloaded or held.downloaded)


def condition(script: Script, node: syntax.Node, stdin: str | None, fed: str, nest: int) -> str | None:
    """if: every branch starts from what the conditions before it did."""
    files = dict(script.shell.files)
    ends: list[Shell] = []
    output: str | None = ""
    complete = False
    clauses = [node, *(child for child in node.named_children if child.type in ("elif_clause", "else_clause"))]
    for clause in clauses:
        children = [c for c in clause.children if c.type not in ("elif_clause", "else_clause")]
        then = next((i for i, c in enumerate(children) if c.type == "then"), -1)
        asked = [c for c in children[: max(then, 0)] if c.is_named]
        output = _joined(output, _nodes(script, clause, asked, stdin, fed, nest))
        branch = script.sub(script.shell.copy())
        output = _joined(
            output, _nodes(branch, clause, [c for c in children[then + 1 :] if c.is_named], stdin, fed, nest)
        )
        ends.append(branch.shell)
        complete = complete or clause.type == "else_clause"
    if not complete:
        ends.append(script.shell.copy())
    script.shell.merge(ends)
    _unsettle(script.shell, files)
    return None if output else output


def cases(script: Script, node: syntax.Node, stdin: str | None, fed: str, nest: int) -> str | None:
    output: str | None = ""
    items = [child for child in node.named_children if child.type == "case_item"]
    for child in node.named_children:
        if child.type != "case_item":
            script.node(child, stdin, fed, nest)
    first, files = script.shell.copy(), dict(script.shell.files)
    ends: list[Shell] = []
    falls = False
    for item in items:
        branch = script.sub(_merged(first, ends[-1]) if falls else first.copy())
        output = _joined(output, sequence(branch, item, stdin, fed, nest))
        ends.append(branch.shell)
        falls = any(child.type in (";&", ";;&") for child in item.children)
    if not any(script.raw(value) == "*" for item in items for value in item.children_by_field_name("value")):
        ends.append(first)
    script.shell.merge(ends)
    _unsettle(script.shell, files)
    return None if output else output


def loop(script: Script, node: syntax.Node, stdin: str | None, fed: str, nest: int) -> str | None:
    """while and until: once for every line that is known to come in, else none, one or several times."""
    shell = script.shell
    files, start = dict(shell.files), len(script.walk.calls)
    ends = [shell.copy()]
    if stdin is not None and known(stdin):
        outputs = []
        before = shell.copy()
        for line in stdin.splitlines(keepends=True)[:LOOP_MAX]:
            outputs.append(sequence(script, node, line, fed, nest))
            ends.append(shell.copy())
        if len(outputs) > 1 and all(call.name != "read" for call in script.walk.calls[start:]):
            sequence(script.sub(before), node, stdin, fed, nest)  # what reads everything in the first round
        # What ends the loop is a condition that was tried once more and found nothing to read.
        _nodes(script, node, [child for child in node.named_children if child.type != "do_group"], "", fed, nest)
        ends.append(shell.copy())
        jumps = any(call.name in _JUMPS for call in script.walk.calls[start:])
        shell.merge(ends[1:] if jumps else ends[-1:])
        _unsettle(shell, files)
        return None if None in outputs else "".join(output for output in outputs if output is not None)
    sequence(script, node, stdin, fed, nest)
    shell.merge([*ends, shell.copy()])
    sequence(script, node, stdin, fed, nest)
    shell.merge([*ends, shell.copy()])
    _unsettle(shell, files)
    return None


def counted(script: Script, node: syntax.Node, stdin: str | None, fed: str, nest: int) -> str | None:
    """for ((...)): like a while loop."""
    return loop(script, node, None, fed, nest)


def each(script: Script, node: syntax.Node, stdin: str | None, fed: str, nest: int) -> str | None:
    """for and select: once a value."""
    shell = script.shell
    name = node.child_by_field_name("variable")
    body = node.child_by_field_name("body")
    given = node.children_by_field_name("value")
    values = [field for value in given for field in script.fields(value)]
    if name is None or body is None:
        return None
    if not given:
        values = list(shell.variables.get("@") or [UNKNOWN])
    if len(values) > LOOP_MAX:
        values = [*values[:LOOP_MAX], UNKNOWN]
    before, files, start = shell.copy(), dict(shell.files), len(script.walk.calls)
    ends: list[Shell] = []
    outputs: list[str | None] = []
    for value in values:
        shell.set(script.raw(name), value)
        outputs.append(script.node(body, stdin, fed, nest))
        ends.append(shell.copy())
    if not all(map(known, values)):
        shell.merge([before, shell.copy()])  # such a value may turn out to be none at all
    elif any(call.name in _JUMPS for call in script.walk.calls[start:]):
        shell.merge(ends or [before])
    _unsettle(shell, files)
    return None if None in outputs else "".join(output for output in outputs if output is not None)


def pipeline(script: Script, node: syntax.Node, stdin: str | None, fed: str, nest: int) -> str | None:
    output, source = stdin, fed
    stages = node.named_children
    before = script.shell.copy()
    for number, stage in enumerate(stages):
        start = len(script.walk.calls)
        # Each stage but (in some shells) the last runs in a shell of its own.
        within = script if number == len(stages) - 1 else script.sub(script.shell.copy())
        output = within.node(stage, output, source, nest)
        source = came_from(script.walk.calls[start:], source)
    script.shell.merge([before, script.shell.copy()])
    return output


def came_from(calls: list[Call], before: str) -> str:
    """Where the output of these calls comes from, given where their input came from."""
    called = {call.name for call in calls}
    if not before and len(calls) == 1 and called == _CAT and len(calls[0].argv) == 2 and calls[0].argv[1][:1] != "-":
        path = posixpath.join(calls[0].cwd, calls[0].argv[1])
        if known(path) and path.startswith("/") and not calls[0].defined and not calls[0].redirects:
            return f"pipe {posixpath.normpath(path)}"
    if before == "download" or not DOWNLOADERS.isdisjoint(called):
        return "download"
    if before == "decoded" or not _DECODERS.isdisjoint(called):
        return "decoded"
    return "pipe"
