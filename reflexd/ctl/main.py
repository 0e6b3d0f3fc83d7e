"""reflexctl: finds the command, runs it, and says in one line what went wrong.

Data goes to stdout, messages to stderr: what happened, then a hint, lower case, no full stop. Exit 0
done, 1 failed, 2 wrong usage, 3 a bug (with a log to attach), 130 interrupted; `check` has more. Each
command is a module of its own and only the one that runs is imported.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
import traceback
from typing import NoReturn, Protocol, cast

from reflexd import __version__, paths
from reflexd.ctl.terminal import error
from reflexd.errors import ReflexError

FAILED, USAGE, BUG, INTERRUPTED = 1, 2, 3, 130

COMMANDS: dict[str, str] = {
    "setup": "hook reflex into the coding agents, start it, try every hook",
    "uninstall": "take everything out again",
    "status": "mode, agents, what is broken",
    "doctor": "try every hook for real and name what is wrong",
    "check": "judge one call, or a file of them",
    "eval": "score a file of labelled calls",
    "why": "explain a refusal",
    "replay": "what a changed policy would have done to past calls",
    "report": "counts, friction, what became of asks, calibration",
    "log": "what was decided",
    "mode": "switch to off, shadow or enforce",
    "envelope": "what a task may touch, in your words",
    "decide": "ask System One: a state, typed questions, probabilities",
    "model": "models: list, pull, use, bench",
    "serve": "serve a model in the foreground, without the gate",
    "start": "start the daemon",
    "stop": "stop the daemon",
    "restart": "stop the daemon and start it",
}


class Command(Protocol):
    """What the module of a command has."""

    EXAMPLE: str

    def arguments(self, parser: argparse.ArgumentParser) -> None: ...
    def run(self, args: argparse.Namespace) -> int: ...


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        error(message, f"see {self.prog} --help")
        sys.exit(USAGE)


def main(argv: list[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    name = argv[0] if argv else "--help"
    if name in ("-h", "--help"):
        print(_overview())
        return 0 if argv else USAGE
    if name == "--version":
        print(f"reflexctl {__version__}")
        return 0
    if name not in COMMANDS:
        error(f"there is no command {name!r}", "reflexctl --help lists them")
        return USAGE
    debug = "--debug" in argv
    try:
        command = cast(Command, importlib.import_module(f"reflexd.ctl.{name}"))
        return command.run(_parser(name, command).parse_args(argv[1:]))
    except ReflexError as e:
        if debug:
            traceback.print_exc()
        error(e.message, e.hint)
        return FAILED
    except KeyboardInterrupt:
        error("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone; what Python would flush at its end goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as e:
        if debug:
            traceback.print_exc()
        error(f"this is a bug in reflexctl: {type(e).__name__}: {e}", _bug_log(argv))
        return BUG


def _parser(name: str, command: Command) -> Parser:
    parser = Parser(
        prog=f"reflexctl {name}",
        description=COMMANDS[name],
        epilog=f"example: {command.EXAMPLE}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--debug", action="store_true", help="show a traceback where something fails")
    command.arguments(parser)
    return parser


def _overview() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {what}" for name, what in COMMANDS.items()]
    return "\n".join(
        ("usage: reflexctl COMMAND ...", "", *lines, "", "reflexctl COMMAND --help says more; --version names this one")
    )


def _bug_log(argv: list[str]) -> str:
    """Write down what a person needs to report the bug; the hint that says where it is."""
    try:
        path = os.path.join(paths.private_dir(paths.state_dir(paths.home())), f"bug-{int(time.time())}.log")
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(fd, "w", encoding="utf-8") as file:
            # Arguments of check are commands and may hold secrets: only the command's name goes in.
            file.write(f"reflexctl {__version__}, Python {sys.version}, {sys.platform}\n{argv[:1]}\n")
            file.write(traceback.format_exc())
    except (OSError, ReflexError):
        return "run it again with --debug and report what it says"
    return f"please report it with {path}"


if __name__ == "__main__":
    sys.exit(main())
