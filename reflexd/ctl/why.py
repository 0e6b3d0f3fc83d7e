from __future__ import annotations

import argparse
from collections.abc import Iterator

import msgspec

from reflexd import paths
from reflexd.core import gates
from reflexd.ctl.rows import local_time, printable, said_by_judge
from reflexd.daemon.journal import Row, find, last_refusal, read_rows
from reflexd.errors import ReflexError
from reflexd.setup.tries import is_try
from reflexd.types import Judged

EXAMPLE = "reflexctl why"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", help="as the refusal names it (the last refusal, where none is given)")
    parser.add_argument("--json", action="store_true", help="the whole row of the journal")


def run(args: argparse.Namespace) -> int:
    row = _row(paths.journal_file(paths.home()), args.id)
    print(msgspec.json.encode(row).decode() if args.json else _text(row))
    return 0


def _row(path: str, wanted: str | None) -> Row:
    try:
        if wanted:
            row = find(path, wanted)
        else:
            # The refusals that setup and doctor provoke are nobody's question, unless there are no others.
            row = next((row for row in read_rows(path) if row.refused and not is_try(row.session, row.cwd)), None)
            row = row or last_refusal(path)
    except OSError as e:
        raise ReflexError(f"cannot read {path}: {e.strerror}") from e
    if row is None and wanted:
        raise ReflexError(f"the journal has no entry {wanted}", "reflexctl log lists them")
    if row is None:
        raise ReflexError("nothing has been refused yet", "reflexctl log shows what was decided")
    return row


def _judged(row: Row) -> Iterator[tuple[str, str]]:
    """Who was asked, what he answered, and how sure he was."""
    said = row.judged
    if said is None:
        return
    yield from said_by_judge(said)
    yield from _gates(row, said)


def _gates(row: Row, said: Judged) -> Iterator[tuple[str, str]]:
    """The gates that spoke, with what they compared where the policy is still the one of then."""
    from reflexd import settings  # loads the rules, which most refusals are told without

    if not said.gates:
        yield "gate", "none spoke"
        return
    try:
        policy = settings.load(paths.home()).policy
    except ReflexError as e:
        yield "gate", f"{', '.join(said.gates)}; the policy cannot be read: {e.message}"
        return
    if row.policy != policy.version and not row.policy.startswith(f"{policy.version}/"):
        yield (
            "gate",
            f"{', '.join(said.gates)}; their comparisons were of policy {row.policy}, now it is {policy.version}",
        )
        return
    try:
        reading = gates.Reading(none=said.none) if said.none else gates.read(said.answers)
    except ValueError as e:
        reading = gates.Reading(none=str(e))
    known = {gate.id: gate for gate in policy.gates}
    for id in said.gates:
        if gate := known.get(id):
            yield "gate", f"{id} {gate.decision}s: {gates.told(gate, reading)}"
        else:
            yield "gate", f"{id}, which a repository brought along"


def _text(row: Row) -> str:
    asked = {"ask": " (a person was asked)" if row.asked else " (nobody could be asked, so it was refused)"}
    parts = (
        ("what", f"{row.tool} {row.call}".strip()),
        ("where", row.cwd),
        (
            "who",
            " ".join(word for word in (row.agent, row.session, row.subagent and f"subagent {row.subagent}") if word),
        ),
        ("when", local_time(row)),
        ("decision", row.decision + asked.get(row.decision, "")),
        ("reason", row.reason),
        ("decided by", " ".join(word for word in (row.decided_by, row.rule) if word)),
        *(("finding", f"{found.decision} [{found.rule}] {found.reason}") for found in row.findings),
        *(("effect", effect) for effect in row.effects),
        *_judged(row),
        ("policy", row.policy),
        ("mode", row.mode),
        ("entry", row.id),
    )
    return "\n".join(f"{name:<11} {printable(value)}" for name, value in parts if value)
