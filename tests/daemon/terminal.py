"""Runs a command in a pseudo-terminal, in a line of processes that no agent and no test is part of.

usage: terminal.py person|held OUT COMMAND...

`person`: a terminal of its own, as a person's. `held`: the other end of its terminal is held by a process
called claude. The command's output and exit go to OUT, whole at once.
"""

from __future__ import annotations

import fcntl
import os
import pty
import sys
import termios
from typing import NoReturn


def main() -> None:
    kind, out, *command = sys.argv[1:]
    if kind == "claude":
        keep(out, *held(command))
    if os.fork():
        return  # whoever is started here has no parent that tells on it
    os.setsid()
    if kind == "person":
        keep(out, *in_terminal(command))
    link = os.path.join(os.path.dirname(out), "claude")
    os.symlink(sys.executable, link)
    os.execv(link, [link, __file__, "claude", out, *command])


def in_terminal(command: list[str]) -> tuple[int, int]:
    pid, master = pty.fork()
    if pid == 0:
        os.execv(command[0], command)
    return pid, master


def held(command: list[str]) -> tuple[int, int]:
    """The command's process is nobody's child, but its terminal is ours."""
    master, slave = os.openpty()
    middle = os.fork()
    if middle == 0:
        if os.fork() == 0:
            os.close(master)
            login(slave)
            os.execv(command[0], command)
        os._exit(0)
    os.close(slave)
    return middle, master


def login(slave: int) -> None:
    """Make the terminal the controlling one of a new session, and its three streams."""
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for fd in range(3):
        os.dup2(slave, fd)


def keep(out: str, pid: int, master: int) -> NoReturn:
    said = b""
    try:
        while part := os.read(master, 65536):
            said += part
    except OSError:
        pass  # how Linux says that the other end is closed
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with open(out + ".part", "wb") as file:
        file.write(b"%d\n" % code + said)
    os.rename(out + ".part", out)
    os._exit(0)


if __name__ == "__main__":
    main()
