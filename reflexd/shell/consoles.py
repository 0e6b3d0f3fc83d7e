"""Consoles of frameworks: code that a tool runs within the application it belongs to, in its language."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from reflexd.shell.calls import Call
from reflexd.shell.carriers import Unwrapped, commands
from reflexd.shell.options import names, split


class Console(Struct, frozen=True):
    """`code`: options whose value is code. `words`: the first operand is code as well, or a file of it."""

    interpreter: tuple[str, ...]
    code: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    words: bool = False


_RUBY = Console(("ruby", "-e"), valued=names("-e --environment"))
_RUNNER = Console(("ruby", "-e"), valued=names("-e --environment"), words=True)
_PYTHON = Console(("python", "-c"), names("-c --command"), names("-i --interface --settings --pythonpath -v"))
_PHP = Console(("php", "-r"), names("--execute"), names("--env"))
_ELIXIR = Console(("elixir", "-e"), names("-e --eval"), names("-r --require"))
CONSOLES: dict[str, dict[str, Console]] = {
    "rails": {"runner": _RUNNER, "r": _RUNNER, "console": _RUBY, "c": _RUBY},
    **{name: {"shell": _PYTHON, "shell_plus": _PYTHON} for name in ("manage.py", "django-admin", "django")},
    "flask": {"shell": _PYTHON},
    "artisan": {"tinker": _PHP},
    "mix": {"run": _ELIXIR},
}
_FILES = (".rb", ".exs", ".ex", ".py", ".php")


def unwrap(call: Call) -> Unwrapped | None:
    verb, *rest = (*call.argv[1:], "")
    console = CONSOLES[call.name].get(verb)
    if console is None:
        return None
    found = split(rest[:-1], console.code | console.valued)
    code = found.all(*console.code)
    program, option = console.interpreter
    if code:
        return commands((program, option, "\n".join(code)))
    if found.operands and (console.words or found.operands[0].endswith(_FILES)):
        first = found.operands[0]
        return commands((program, first) if first.endswith(_FILES) or first == "-" else (program, option, first))
    return None if verb == "run" else commands((program,))


SPECIAL: dict[str, Callable[[Call], Unwrapped | None]] = dict.fromkeys(CONSOLES, unwrap)
