"""Feeds the gate hostile commands and reports what it must never do.

    python bench/fuzz.py [--seconds N | --count N] [--seed N]

Looked for: an exception (also one that the reader itself turned into "could not be read"), a crash of the
process, a check that does not end, and another answer to the same input, in this process and in two with
other hash seeds. The code that a command names is given to it as hostile text too. Times are processor time,
reported and no finding unless a check passes HANG_S. The exit status is 1 where something was found.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import msgspec
from msgspec import Struct

from bench.home import ROOT
from bench.hostile import commands
from reflexd.core.decide import decide
from reflexd.core.facts import facts
from reflexd.core.policy import shipped
from reflexd.types import (
    Code,
    Context,
    Edit,
    Facts,
    Fetch,
    Mcp,
    Origin,
    Patch,
    Seen,
    Shell,
    Sighting,
    Tool,
    ToolCall,
    Verdict,
    Write,
)

HANG_S = 20.0  # of processor time, for one input
SLOW_S, SLOW_CHAR_S = 0.25, 60e-6  # what is worth a line in the report: so much, and so much more a character
ROUNDS = 3  # of looking, each with more hostile text
COMPARED = 400  # inputs of a run that are also judged under other hash seeds
SHRINKS = 300
HASH_SEEDS = ("1", "2")
CONTEXT = Context(
    "/home/dev/proj", "/home/dev", "dev", (("HOME", "/home/dev"), ("PATH", "/usr/bin:/bin"), ("x", "a b"))
)
SWALLOWED = "reading it failed"
"""What the reader says where an exception of its own was turned into a reason."""


class Finding(Struct, frozen=True):
    what: str
    tool: Tool


class Slow(Struct, frozen=True):
    seconds: float
    length: int
    text: str


class Report(Struct):
    inputs: int = 0
    characters: int = 0
    seconds: float = 0.0
    findings: list[Finding] = []
    slow: list[Slow] = []


class Hang(BaseException):
    """No Exception: nothing under test may catch it."""


def tools(seed: int) -> Iterator[Tool]:
    """Mostly shell, now and then another tool with the same kind of text."""
    rng = random.Random(seed)
    for text in commands(seed):
        yield rng.choice(OTHERS)(text) if rng.random() < 0.12 else Shell(text)


OTHERS: tuple[Callable[[str], Tool], ...] = (
    lambda text: Write(text[:200] or "x", text),
    lambda text: Edit("/home/dev/.claude/settings.json", text),
    lambda text: Patch(f"*** Begin Patch\n*** Update File: {text}\n+{text}\n*** End Patch"),
    lambda text: Fetch(text),
    lambda text: Code("python", text),
    lambda text: Code("bash", text),
    lambda text: Mcp(
        "server", "run_query", msgspec.json.encode({"sql": text.encode("utf-8", "replace").decode()}).decode()
    ),
    lambda text: Mcp(text[:40], text[:40], text),
)


def judged(tool: Tool, context: Context, text: str) -> tuple[Facts, Verdict]:
    """As the gate would: what a call wants looked at is looked at; every file of code holds `text`."""
    seen = Seen()
    for _ in range(ROUNDS):
        found = facts(tool, context, seen)
        if not found.wants:
            break
        seen = Seen(
            (
                *seen.found,
                *(
                    (want, Sighting(text=text, digest="0") if want.kind == "file" else Sighting(problem="missing"))
                    for want in found.wants
                ),
            )
        )
    event = ToolCall(Origin("claude", "PreToolUse", cwd=context.cwd), "Bash", tool)
    return found, decide(event, found, context, shipped())


def fault(tool: Tool, text: str) -> str:
    """What is wrong with how this one is judged; empty: nothing."""
    signal.setitimer(signal.ITIMER_PROF, HANG_S)
    try:
        first = judged(tool, CONTEXT, text)
        # Another context that means the same: nothing of the first is remembered for it.
        second = judged(tool, msgspec.structs.replace(CONTEXT, can_ask=True), text)
    except Hang:
        return f"it takes more than {HANG_S:.0f} s"
    except Exception:
        return traceback.format_exc(limit=-3)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    if first != second:
        return "two answers to one input"
    reasons = (first[0].opaque, *(unseen.why for unseen in first[0].unseen))
    return next((reason for reason in reasons if reason.startswith(SWALLOWED)), "")


def fuzz(seed: int, count: int | None, seconds: float, note: Callable[[Tool], None]) -> Report:
    report = Report()
    signal.signal(signal.SIGPROF, _hang)
    since = time.monotonic()
    every = tools(seed)
    texts = commands(seed + 1)
    for number in itertools.count():
        if number == count or (count is None and time.monotonic() - since > seconds):
            break
        tool, text = next(every), next(texts)
        note(tool)
        began = time.process_time()
        what = fault(tool, text)
        spent = (time.process_time() - began) / 2
        length = len(str(tool)) + len(text)
        report.inputs += 1
        report.characters += length
        if what:
            report.findings.append(Finding(what, shrunk(tool, text, what)))
        if spent > SLOW_S + SLOW_CHAR_S * length:
            report.slow.append(Slow(spent, length, f"{tool!r}"[:100] + f" with {text!r}"[:60]))
    report.seconds = time.monotonic() - since
    return report


def _hang(_: int, __: FrameType | None) -> None:
    raise Hang


def shrunk(tool: Tool, text: str, what: str) -> Tool:
    """A shorter command with the same kind of fault, as far as a few tries find one."""
    if not isinstance(tool, Shell) or "takes more" in what:
        return tool
    command, step, tries = tool.command, max(1, len(tool.command) // 2), SHRINKS
    while step and tries:
        for at in range(0, len(command), step):
            shorter = command[:at] + command[at + step :]
            tries -= 1
            if tries <= 0:
                break
            if fault(Shell(shorter), text).splitlines()[-1:] == what.splitlines()[-1:]:
                command = shorter
                break
        else:
            step //= 2
    return Shell(command)


def digests(seed: int, count: int) -> Iterator[str]:
    """What is decided about each input, as a digest: to be compared between processes."""
    for tool, text in itertools.islice(zip(tools(seed), commands(seed + 1), strict=False), count):
        try:
            answer = repr(judged(tool, CONTEXT, text))
        except Exception as e:
            answer = f"{type(e).__name__}"
        yield hashlib.sha256(answer.encode("utf-8", "surrogatepass")).hexdigest()


def compared(seed: int, count: int) -> list[Finding]:
    """The inputs that are judged differently under different hash seeds."""
    runs = [
        subprocess.run(
            [sys.executable, str(ROOT / "bench" / "fuzz.py"), "--digests", "--seed", str(seed), "--count", str(count)],
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for hash_seed in HASH_SEEDS
    ]
    return [
        Finding("another answer under another hash seed", tool)
        for tool, *answers in zip(tools(seed), *runs, strict=False)
        if len(set(answers)) > 1
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description="Hostile input for the gate, until the time is up.")
    parser.add_argument("--seconds", type=float, default=600.0, help="how long (default 600)")
    parser.add_argument("--count", type=int, help="how many inputs, instead of how long")
    parser.add_argument("--seed", type=int, default=0, help="which inputs (default: others every time)")
    parser.add_argument("--digests", action="store_true", help="only print a digest of every answer")
    asked = parser.parse_args()
    seed = asked.seed or random.SystemRandom().randrange(1, 1 << 32)
    if asked.digests:
        print(*digests(seed, asked.count or COMPARED), sep="\n")
        return 0
    print(f"seed {seed}", flush=True)
    return watched(seed, asked.count, asked.seconds)


def watched(seed: int, count: int | None, seconds: float) -> int:
    """The run in a child of its own, so that an input that crashes the process is known afterwards."""
    with tempfile.TemporaryFile() as last:

        def note(tool: Tool) -> None:
            data = repr(tool).encode("utf-8", "backslashreplace")
            os.pwrite(last.fileno(), len(data).to_bytes(8) + data, 0)

        pid = os.fork()
        if pid == 0:
            code = 3
            try:
                code = _shown(fuzz(seed, count, seconds, note), seed)
            finally:
                sys.stdout.flush()
                os._exit(code)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if status < 0:
            data = os.pread(last.fileno(), 1 << 20, 0)
            print(f"FOUND the process died of signal {-status}:\n  {data[8 : 8 + int.from_bytes(data[:8])].decode()}")
            return 1
    return status


def _shown(report: Report, seed: int) -> int:
    findings = [*report.findings, *compared(seed, min(COMPARED, report.inputs))]
    for found in findings:
        print(f"FOUND {found.what.strip()}\n  {found.tool!r}"[:2000])
    for slow in sorted(report.slow, key=lambda one: -one.seconds)[:10]:
        print(f"slow {slow.seconds:.2f} s for {slow.length:,} characters: {slow.text}")
    print(
        f"{report.inputs:,} inputs, {report.characters:,} characters in {report.seconds:.0f} s:"
        f" {len(findings)} findings, {len(report.slow)} slow"
    )
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
