"""What can happen to our own file in an agent: it crashes, or it cannot be started at all."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import ExitStack

from msgspec import Struct

from tests.agents.lab import Lab

Break = Callable[[Lab, ExitStack], None]


class Breakage(Struct, frozen=True):
    name: str
    row: str
    break_: Break


def _rewritten(change: Callable[[str], str]) -> Break:
    """The file with its text changed."""

    def break_(lab: Lab, undo: ExitStack) -> None:
        with open(lab.shim(), encoding="utf-8") as f:
            text = f.read()
        undo.callback(_write, lab.shim(), text)
        _write(lab.shim(), change(text))

    return break_


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def _planted(in_python: str, in_javascript: str = "") -> Callable[[str], str]:
    """A statement at the start of what carries an event, which every one of our files calls `carry`."""

    def change(text: str) -> str:
        text, python = re.subn(r"(?m)^def carry\(.*:$", rf"\g<0>\n    {in_python}", text)
        text, javascript = re.subn(r"(?m)^function carry\(.*{$", rf"\g<0>\n  {in_javascript}", text)
        assert python + javascript == 1
        return text

    return change


def _gone(lab: Lab, undo: ExitStack) -> None:
    os.rename(lab.shim(), lab.shim() + ".away")
    undo.callback(os.rename, lab.shim() + ".away", lab.shim())


def _no_interpreter(lab: Lab, undo: ExitStack) -> None:
    os.unlink(interpreter_link(lab))
    undo.callback(os.symlink, real_interpreter(lab), interpreter_link(lab))


def interpreter_link(lab: Lab) -> str:
    """What stands for the interpreter in the hook lines, once link_interpreter was called: one can be taken
    away, while the real one runs these tests."""
    return os.path.join(lab.world.base, "python")


def real_interpreter(lab: Lab) -> str:
    with open(os.path.join(lab.world.base, "python.path"), encoding="utf-8") as f:
        return f.read()


def link_interpreter(lab: Lab, undo: ExitStack) -> None:
    """Have the agent's hook lines name the interpreter by a link of ours."""
    path = os.path.join(lab.world.home, lab.driver.HOOKS)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    found = re.search(r"\"command\": *\"([^ \"]+) -I -S ", text)
    assert found, text
    os.symlink(found[1], interpreter_link(lab))
    undo.callback(os.unlink, interpreter_link(lab))
    _write(os.path.join(lab.world.base, "python.path"), found[1])
    undo.callback(_write, path, text)
    _write(path, text.replace(found[1] + " -I -S ", interpreter_link(lab) + " -I -S "))


CRASHES = (
    Breakage(
        "raises",
        "our file crashes: it raises",
        _rewritten(_planted("raise RuntimeError('planted')", "throw new Error('planted');")),
    ),
)
CRASHES_OF_A_PROCESS = (
    Breakage("dies", "our file crashes: its process is killed", _rewritten(_planted("posix.kill(posix.getpid(), 9)"))),
    Breakage("leaves", "our file ends early, with exit code 0", _rewritten(_planted("posix._exit(0)"))),
)
UNSTARTABLE = (
    Breakage("cut", "cut off in its middle", _rewritten(lambda text: text[: len(text) // 2])),
    Breakage("empty", "empty", _rewritten(lambda text: "")),
    Breakage("gone", "not there", _gone),
)
NO_INTERPRETER = Breakage("interpreter", "its interpreter is not there", _no_interpreter)
