"""What a changed policy would have done to past calls: rules over calls read again, gates over answers as recorded.

The disk is that of now, so both policies are tried on it, the one in force and the changed one: what differs is the
change's doing. What the journal does not hold whole (masked, cut, or of a tool whose call is not its text) is counted
as left out and never guessed.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice

import msgspec
from msgspec import Struct

from reflexd import paths, settings
from reflexd.ctl.rows import printable
from reflexd.ctl.terminal import say
from reflexd.daemon.journal import FIELD_MAX, Row, read_rows
from reflexd.errors import PolicyError, ReflexError
from reflexd.setup.tries import is_try

EXAMPLE = "reflexctl replay --policy my-policy.toml"
QUIET_S = 2.0
SHOWN = 20
SHELLS = frozenset({"Bash", "bash", "terminal"})
FILES = frozenset({"Read", "read"})


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
    """What --json prints. `drifted`: calls that the policy in force would decide otherwise today than it did then.
    Shares are stops per hundred of the calls that were replayed."""

    policy: str
    calls: int
    left_out: dict[str, int]
    drifted: int
    stops_before: int
    stops_after: int
    changes: tuple[Change, ...]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--policy", metavar="FILE", help="rules and gates that are added to the shipped ones (yours)")
    parser.add_argument("-n", type=int, default=5000, metavar="N", help="how many of the last calls (5000)")
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(args: argparse.Namespace) -> int:
    found = replay(paths.home(), args.policy, args.n)
    if args.json:
        print(msgspec.json.encode(found).decode())
    else:
        _print(found)
    return 0


def replay(base: str, file: str | None, most: int) -> Replay:
    """Raises ReflexError for a policy that does not load or a journal that cannot be read."""
    from reflexd.core.policy import load, shipped
    from reflexd.ctl import local  # loads what reads commands, which --help does without

    force = settings.load(base).policy
    try:
        with open(file or settings.policy_file(base), "rb") as source:
            changed = load(source.read(), file or settings.policy_file(base), shipped())
    except FileNotFoundError as e:
        if file is not None:
            raise PolicyError(f"there is no file {file}") from e
        changed = force
    except OSError as e:
        raise PolicyError(f"cannot read {file}: {e.strerror}") from e
    again, anew = local.replayed(base, force), local.replayed(base, changed)
    left: Counter[str] = Counter()
    changes = []
    calls = drifted = before = after = 0
    told = time.monotonic()
    for row in _rows(base, most):
        if time.monotonic() - told > QUIET_S:
            told = time.monotonic()
            say(f"{calls} calls replayed")
        if why := _incomparable(row):
            left[why] += 1
            continue
        calls += 1
        old, new = again(row), anew(row)
        drifted += old.decision != row.decision
        before += old.decision.strictness > 0
        after += new.decision.strictness > 0
        if old.decision is not new.decision:
            rule = new.rule or old.rule or new.decided_by
            changes.append(Change(row.id, row.t, row.call, old.decision, new.decision, rule, new.reason or old.reason))
    return Replay(changed.version, calls, dict(left), drifted, before, after, tuple(changes))


def _rows(base: str, most: int) -> Iterator[Row]:
    path = paths.journal_file(base)
    if not os.path.exists(path):
        raise ReflexError("there is no journal yet", "reflexctl status says whether agents are hooked")
    verdicts = (row for row in read_rows(path) if row.kind == "verdict" and not is_try(row.session, row.cwd))
    try:
        yield from islice(verdicts, most)
    except OSError as e:
        raise ReflexError(f"cannot read {path}: {e.strerror}") from e


def _incomparable(row: Row) -> str:
    if row.tool not in SHELLS | FILES:
        return "not a shell or read call"
    if "[redacted:" in row.call:
        return "holds a masked secret"
    if len(row.call) >= FIELD_MAX:
        return "cut in the journal"
    if row.decided_by in ("payload", "deadline", "bug", "journal", "mode", "namespace"):
        return "decided by no rule"
    return ""


def _print(found: Replay) -> None:
    left = ", ".join(f"{count} {why}" for why, count in found.left_out.items())
    print(f"{found.calls} calls replayed under policy {found.policy}, on the disk as it is now")
    if left:
        print(f"left out: {left}")
    if found.drifted:
        print(
            f"{found.drifted} would be decided otherwise today without any change (files, links, repositories moved on)"
        )
    share = 100 / found.calls if found.calls else 0.0
    print(
        f"stopped: {found.stops_before} before, {found.stops_after} after"
        f" ({found.stops_before * share:.1f} and {found.stops_after * share:.1f} per 100 calls)"
    )
    ways = Counter((change.before, change.after) for change in found.changes)
    for (before, after), count in ways.most_common():
        print(f"\n{before} -> {after}: {count}")
        for change in [c for c in found.changes if (c.before, c.after) == (before, after)][:SHOWN]:
            print(printable(f"  {change.id} [{change.rule}] {' '.join(change.call.split())[:140]}"))
    if not ways:
        print("nothing changes")
