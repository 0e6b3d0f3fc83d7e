"""What three gates decide about the same commands, and how long they take, asked in turns."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import structs

from reflexd.control import CheckRequest
from reflexd.ctl import labelled
from reflexd.ctl.labelled import Case, Label, Rate
from reflexd.types import Decision

from .figures import BETTER_HIGH, Gap, Line, Measured, p50, percentile
from .home import Home
from .peers import gates
from .peers.gates import Gate, Peer, Slow
from .processes import run

OURS = "reflex"
WHOLE_CASES = 24  # a peer's whole process takes a tenth of a second
IN_PROCESS = "one check in process, over the same commands in turns, none asked about twice"
AGAIN = "the same, each command asked about for the second time in a row"
WHOLE = "one check as a whole hook process, over some of the same commands in turns"
LONG = "one command of 32 KB, in process"
HOOK_ENDS = frozenset({0, 2, 40, 42})  # go on and refused; our shim says 40 and 42 to the line that runs it

Asked = Mapping[str, Gate]
Decisions = dict[str, list[Decision]]
Samples = dict[str, list[float]]


def measure(cases: Sequence[Case], file: str, peers: Sequence[Peer], rounds: int, home: Home) -> list[Measured]:
    return [*in_process(cases, file, peers, rounds), *_compared(WHOLE, _whole(cases, peers, home), floor=None)]


def in_process(cases: Sequence[Case], file: str, peers: Sequence[Peer], rounds: int) -> list[Measured]:
    with contextlib.ExitStack() as stack:
        asked: dict[str, Gate] = {OURS: gates.ours()}
        asked |= {peer.name: stack.enter_context(gates.running(peer)) for peer in peers}
        # What a gate loads when it is first asked is no check: decisions come first, and are not timed.
        decisions = {name: [gate(case.request).decision for case in cases] for name, gate in asked.items()}
        new, again = _turns(cases, asked, rounds)
        long = [*_long(asked)]
    return [
        *_decided([case.label for case in cases], decisions, file),
        *_compared(IN_PROCESS, new, floor=3.0),
        *_compared(AGAIN, again, floor=None),
        *long,
    ]


def _turns(cases: Sequence[Case], asked: Asked, rounds: int) -> tuple[Samples, Samples]:
    new: Samples = {name: [] for name in asked}
    again: Samples = {name: [] for name in asked}
    for number in range(rounds):
        order = list(asked) if number % 2 else list(reversed(list(asked)))
        for case in cases:
            request = different(case.request, number)
            for name in order:
                new[name].append(asked[name](request).seconds)
                again[name].append(asked[name](request).seconds)
    return new, again


def different(request: CheckRequest, number: int) -> CheckRequest:
    """The same command spelt differently: a gate may remember what it was asked before."""
    return structs.replace(request, command=(request.command or "") + "\n" * (number + 1))


def _decided(labels: list[Label], decisions: Decisions, file: str) -> list[Measured]:
    part = f"decisions on the {len(labels)} shell commands of {file}"
    rates = {name: labelled.rates(zip(labels, given, strict=True)) for name, given in decisions.items()}
    return [
        Line(
            part,
            mine.name,
            mine.share * 100,
            "%",
            mine.floor * 100,
            mine.sense,
            "; ".join(_share(name, rate[at]) for name, rate in rates.items()),
        )
        for at, mine in enumerate(rates[OURS])
    ]


def _share(name: str, rate: Rate) -> str:
    return f"{name} {rate.count} of {rate.of} ({rate.share:.1%})"


def _compared(part: str, samples: Mapping[str, list[float]], floor: float | None) -> list[Measured]:
    """Each gate's own times, then how many times faster ours is; the floor is for nah."""
    out: list[Measured] = [
        Line(part, name, p50(taken) * 1e3, "ms p50", detail=_spread(taken)) for name, taken in samples.items()
    ]
    for name, taken in samples.items():
        if name != OURS:
            times = p50(taken) / p50(samples[OURS])
            out.append(
                Line(part, f"median faster than {name}'s", times, "x", floor if name == "nah" else None, BETTER_HIGH)
            )
    return out


def _spread(taken: list[float]) -> str:
    return f"p95 {percentile(taken, 0.95) * 1e3:.3f} ms, max {max(taken) * 1e3:.3f} ms, {len(taken)} checks"


def _whole(cases: Sequence[Case], peers: Sequence[Peer], home: Home) -> dict[str, list[float]]:
    samples: dict[str, list[float]] = {OURS: [], **{peer.name: [] for peer in peers}}
    stdin = os.path.join(home.path, "call.json")
    line = (home.places.python, "-I", "-S", home.hook, "claude", "PreToolUse")
    for case in cases[:: max(1, len(cases) // WHOLE_CASES)][:WHOLE_CASES]:
        command, cwd = case.request.command or "", case.request.cwd
        turns: list[tuple[str, tuple[str, ...], dict[str, str], str, str]] = [
            (OURS, line, home.environment(), command, cwd)
        ]
        turns += [
            (
                peer.name,
                peer.hook,
                peer.environment(),
                peer.moved(command, case.request.home),
                peer.directory(case.request),
            )
            for peer in peers
        ]
        for name, argv, environment, text, where in turns:
            payload = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": text}}
            Path(stdin).write_text(json.dumps({"session_id": "bench", "cwd": where, **payload}), "utf-8")
            taken, status = run(list(argv), stdin, environment)
            if status not in HOOK_ENDS:
                raise RuntimeError(f"{name}: exit status {status}: {argv}")
            samples[name].append(taken)
    return samples


def _long(asked: Asked) -> list[Measured]:
    out: list[Measured] = []
    for name, gate in asked.items():
        request = CheckRequest(command=long_command(), cwd=labelled.CWD, home=labelled.HOME)
        try:
            taken = sorted((gate(request) for _ in range(3)), key=lambda check: check.seconds)[1]
        except Slow as e:
            out.append(Gap(LONG, str(e)))
        else:
            out.append(Line(LONG, name, taken.seconds * 1e3, "ms", detail=f"{taken.decision}"))
    return out


def long_command() -> str:
    """Ordinary lines, none like another, just under the cap of 32 KiB."""
    lines: list[str] = []
    length = 0
    for number in range(10_000):
        line = (
            f"git -C packages/p{number} status --short | head -{number} > out/{number}.txt",
            f"python3 -m pytest -q tests/unit/test_{number}.py -k 'not slow'",
            f'grep -rn "todo {number}" src/part{number} | sort -u',
        )[number % 3]
        length += len(line) + 1
        if length > 32_000:
            break
        lines.append(line)
    return "\n".join(lines)
