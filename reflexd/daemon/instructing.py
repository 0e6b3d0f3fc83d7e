"""What is added to a prompt: the user's own instructions that fit it.

They lie in a directory of the user's (see core.instructions) and are read anew for every prompt: what is no longer
there is no longer said. What cannot be used is left out and named in `faults`; a judge that does not answer chooses
nothing. A repository's own instructions are not read: nobody could have vouched for them.
"""

from __future__ import annotations

import asyncio
import os
import stat
import time
from collections.abc import Callable

from reflexd import paths
from reflexd.core import instructions
from reflexd.core.instructions import Added, Instruction
from reflexd.daemon.lane import Lane
from reflexd.errors import ReflexError
from reflexd.guard.redact import redact_head
from reflexd.judge.values import Judge, answered
from reflexd.private import owned_file
from reflexd.settings import Settings
from reflexd.types import Prompt

SOURCE = "~/.config/reflex/instructions"
FILES_MAX = 64
FILE_MAX = 64 * 1024
JUDGE_S = 2.0
LEFT_S = 0.3  # of the event's time, for what comes after the judge
PROMPT_MAX = 64 * 1024


def directory(base: str) -> str:
    return os.path.join(paths.config_dir(base), "instructions")


class Instructing:
    """Belongs to the loop's thread; what looks at the disk runs on `lane`."""

    def __init__(self, base: str, judge: Callable[[Settings], Judge | None], lane: Lane) -> None:
        self._base = base
        self._judge = judge
        self._lane = lane
        self.faults: tuple[str, ...] = ()

    async def added(self, event: Prompt, settings: Settings, ends: float) -> Added:
        """What to put before the agent's model. Never raises for what a file or a judge does wrong.

        `ends`: when the event's time is over, monotonic.
        """
        try:
            async with asyncio.timeout(max(ends - time.monotonic() - LEFT_S, 0)):
                found, self.faults = await self._lane.run(read, self._base)
        except (TimeoutError, ReflexError) as e:
            self.faults = (f"instructions could not be read: {str(e) or 'the disk took too long'}",)
            return Added("")
        if not found:
            return Added("")
        prompt, cwd = event.text[:PROMPT_MAX], event.origin.cwd
        held = [each for each in found if instructions.fits(each, prompt, cwd, self._base)]
        asked = [each for each in found if each.head.question and each not in held]
        judge = self._judge(settings) if asked else None
        if judge is not None:
            request = instructions.request(asked, redact_head(prompt.strip(), instructions.PROMPT_MAX), cwd)
            left_s = min(JUDGE_S, ends - time.monotonic() - LEFT_S)
            held += instructions.chosen(asked, await answered(judge, request, left_s))
        return instructions.added(each for each in found if each in held)


def read(base: str) -> tuple[tuple[Instruction, ...], tuple[str, ...]]:
    """The user's instructions by name, and what is wrong with those that cannot be used. Looks at the disk."""
    where = directory(base)
    found: list[Instruction] = []
    faults: list[str] = []
    try:
        at = os.stat(where)
        if not stat.S_ISDIR(at.st_mode) or at.st_uid not in (os.geteuid(), 0) or at.st_mode & 0o022:
            return (), (f"{where}: not a directory that only you can write to (no instructions are used)",)
        names = sorted(name for name in os.listdir(where) if name.endswith(".md") and not name.startswith("."))
    except FileNotFoundError:
        return (), ()
    except OSError as e:
        return (), (f"{where}: cannot be read: {e.strerror}",)
    if len(names) > FILES_MAX:
        faults.append(f"{where}: more than {FILES_MAX} files, the others are not read")
    for name in names[:FILES_MAX]:
        try:
            path = os.path.join(where, name)
            data = owned_file(path, FILE_MAX)
            if data is not None:
                found.append(instructions.parse(path, data, SOURCE))
        except ReflexError as e:
            faults.append(f"{e.message} (it is not used)")
    return tuple(found), tuple(faults)
