"""What a changed policy would have done to past calls: rules over calls read again, gates over answers as recorded.

The disk is that of now, so both policies are tried on it, the one in force and the changed one: what differs is the
change's doing. Where the journal does not hold the call whole (masked, cut, or of a tool whose call is not its text)
rules are not run again; only gates are, if a judge answered. Nothing is guessed: what cannot be compared is counted.
"""

from __future__ import annotations

import argparse
import os
import re
import time
from collections import Counter
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from reflexd import paths, settings
from reflexd.control import CheckRequest
from reflexd.core.policy import Policy, load, shipped
from reflexd.ctl.rows import printable, selected, selection
from reflexd.ctl.terminal import say
from reflexd.daemon.journal import FIELD_MAX, Row, read_rows
from reflexd.errors import PolicyError, ReflexError
from reflexd.setup.tries import is_try

EXAMPLE = "reflexctl replay --policy my-policy.toml"
QUIET_S = 2.0
SHOWN = 20
SHELLS = frozenset({"Bash", "bash", "terminal"})
FILES = frozenset({"Read", "read", "read_file"})
ELSEWHERE = frozenset({"opencode", "hermes"})
"""Agents whose shell calls may name a directory of their own, which the journal shows behind the command."""
_ELSEWHERE = re.compile(r" \(in ([^\n]*)\)\Z")


class Change(Struct, frozen=True):
    """One call that the changed policy decides otherwise."""

    id: str
    t: str
    call: str
    before: str
    after: str
    rule: str
    reason: str


class Replay(Struct, frozen=True):
    """What --json prints. `drifted`: calls that the policy in force would decide otherwise today than was done then.
    `by_gates`: calls whose rules could not be run again, so that only the answers were read anew. Friction is stops
    per 100 of the calls that were compared."""

    policy: str
    calls: int
    by_gates: int
    not_comparable: dict[str, int]
    drifted: int
    stops_before: int
    stops_after: int
    friction_before: float
    friction_after: float
    changes: tuple[Change, ...]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--policy", metavar="FILE", help="rules and gates that are added to the shipped ones (yours)")
    selection(parser, 5000)
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(args: argparse.Namespace) -> int:
    found = replay(paths.home(), args.policy, args.since, args.n)
    if args.json:
        print(msgspec.json.encode(found).decode())
    else:
        _print(found)
    return 0


def replay(base: str, file: str | None, since: str | None, most: int) -> Replay:
    """Raises ReflexError for a policy that does not load or a journal that cannot be read."""
    from reflexd.ctl import local  # loads what reads commands, which --help does without

    force = settings.load(base).policy
    changed = _changed(base, file) or force
    again, anew = local.replayed(base, force), local.replayed(base, changed)
    left: Counter[str] = Counter()
    changes = []
    calls = gates = drifted = before = after = 0
    told = time.monotonic()
    for row in _rows(base, since, most):
        if time.monotonic() - told > QUIET_S:
            told = time.monotonic()
            say(f"{calls} calls replayed")
        request = _request(row, base)
        if isinstance(request, CheckRequest):
            old, new = again(request, row.judged), anew(request, row.judged)
        elif row.judged is not None and row.decided_by in ("none", "gate"):
            old, new = local.reread(force, row.judged), local.reread(changed, row.judged)
            gates += 1
        else:
            left[request] += 1
            continue
        calls += 1
        drifted += row.mode in ("", "enforce") and old.decision != row.decision
        before += old.decision.strictness > 0
        after += new.decision.strictness > 0
        if old.decision is not new.decision:
            rule = new.rule or old.rule or new.decided_by
            changes.append(Change(row.id, row.t, row.call, old.decision, new.decision, rule, new.reason or old.reason))
    share = 100 / calls if calls else 0.0
    version, friction = changed.version, (before * share, after * share)
    return Replay(version, calls, gates, dict(left), drifted, before, after, *friction, tuple(changes))


def _changed(base: str, file: str | None) -> Policy | None:
    """The policy that is tried; None where none is named."""
    if file is None:
        return None
    try:
        with open(file, "rb") as source:
            return load(source.read(), file, shipped())
    except FileNotFoundError as e:
        raise PolicyError(f"there is no file {file}") from e
    except OSError as e:
        raise PolicyError(f"cannot read {file}: {e.strerror}") from e


def _rows(base: str, since: str | None, most: int) -> Iterator[Row]:
    path = paths.journal_file(base)
    if not os.path.exists(path):
        raise ReflexError("there is no journal yet", "reflexctl status says whether agents are hooked")
    verdicts = (row for row in read_rows(path) if row.kind == "verdict" and not is_try(row.session, row.cwd))
    try:
        yield from selected(verdicts, since, most)
    except OSError as e:
        raise ReflexError(f"cannot read {path}: {e.strerror}") from e


def _request(row: Row, base: str) -> CheckRequest | str:
    """The call again, or why it cannot be had from its row."""
    if row.tool not in SHELLS | FILES:
        return "not a shell or read call"
    if "[redacted:" in row.call:
        return "holds a masked secret"
    if len(row.call) >= FIELD_MAX:
        return "cut in the journal"
    if row.decided_by in ("payload", "deadline", "bug", "journal", "mode", "namespace"):
        return "decided by no rule"
    if row.tool in FILES:
        return CheckRequest("Read", path=row.call, cwd=row.cwd, home=base)
    elsewhere = _ELSEWHERE.search(row.call) if row.agent in ELSEWHERE else None
    if elsewhere is None:
        return CheckRequest(command=row.call, cwd=row.cwd, home=base)
    cwd = os.path.join(row.cwd, elsewhere[1])
    return CheckRequest(command=row.call[: elsewhere.start()], cwd=cwd, home=base)


def _print(found: Replay) -> None:
    print(f"{found.calls} calls replayed under policy {found.policy}, on the disk as it is now and not as it was then")
    if found.by_gates:
        print(
            f"of {found.by_gates} of them only a judge's answers were read anew: the calls are not in the journal whole"
        )
    for why, count in found.not_comparable.items():
        print(f"not comparable: {count}, {why}")
    if found.drifted:
        print(f"{found.drifted} would be decided otherwise today without any change (files and repositories moved on)")
    print(
        f"stopped: {found.stops_before} before, {found.stops_after} after"
        f" ({found.friction_before:.1f} and {found.friction_after:.1f} per 100 calls)"
    )
    ways = Counter((change.before, change.after) for change in found.changes)
    for (before, after), count in ways.most_common():
        print(f"\n{before} -> {after}: {count}")
        for change in [c for c in found.changes if (c.before, c.after) == (before, after)][:SHOWN]:
            print(printable(f"  {change.id} [{change.rule}] {' '.join(change.call.split())[:140]}"))
        if count > SHOWN:
            print(f"  and {count - SHOWN} more; --json has them all")
    if not ways:
        print("nothing changes")
