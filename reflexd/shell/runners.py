"""Programs that run a package: npx, uvx, pnpm dlx and their kin -> the code they would fetch for it.

A tool that the table of programs knows counts as known code, whatever registry it is fetched from; so does a local
path. A plain name given to a runner that looks into the project first is the project's own as far as can be seen.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

from msgspec import Struct

from reflexd.shell import interpreters
from reflexd.shell.calls import Call
from reflexd.shell.carriers import Unwrapped, commands
from reflexd.shell.fields import UNKNOWN, known
from reflexd.shell.options import command_at, names, split
from reflexd.shell.packagejson import SCRIPT
from reflexd.shell.packages import is_local, package, source
from reflexd.shell.places import Ground
from reflexd.shell.programs import find_operation, find_row, with_subcommands
from reflexd.shell.programs import known as known_programs
from reflexd.types import Effect


class Runner(Struct, frozen=True):
    """`valued`: options with a value; `named`: those whose value is a package, `lists`: those that say where packages
    come from. `project`: it looks into the project before it fetches anything; `script`: it runs a local file or an
    installed program, and only fetches what `named` says.
    """

    valued: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    lists: frozenset[str] = frozenset()
    project: bool = False
    script: bool = False

    @property
    def with_value(self) -> frozenset[str]:
        return self.valued | self.named | self.lists


_NPM = Runner(
    names(
        "-w --workspace --node-options --registry --prefix --userconfig --cache --loglevel -C --shell --script-shell"
    ),
    names("-p --package"),
    project=True,
)
_DLX = Runner(
    names("-C --dir --filter --registry --allow-build --shell-mode --reporter --loglevel"), names("--package -p")
)
_UV = Runner(
    names(
        "-p --python --directory --project --config-file --cache-dir --env-file --color -C --link-mode"
        " --python-platform --config-setting --no-binary-package --no-build-package --exclude-newer --resolution"
        " --prerelease --extra"
        " --group --only-group --no-group --no-extra --package -c --constraints -b --overrides -P --upgrade-package"
        " --refresh-package --reinstall-package -m --module --index-strategy --keyring-provider --torch-backend"
    ),
    names("--from --with -w --with-editable"),
    names("--index --default-index -i --index-url --extra-index-url -f --find-links --with-requirements"),
)
RUNNERS: dict[str, Runner] = {
    **dict.fromkeys(("npx", "npm exec", "npm x", "bunx", "bun x"), _NPM),
    **dict.fromkeys(("pnpm dlx", "pnpx", "yarn dlx"), _DLX),
    **dict.fromkeys(("uvx", "uv tool run"), _UV),
    "uv run": Runner(
        _UV.with_value - {"--with", "-w", "--with-editable"}, names("--with -w --with-editable"), _UV.lists, script=True
    ),
    "pipx run": Runner(names("--python --index-url -i --pip-args"), names("--spec --with")),
}
_YES = names("-y --yes")
_SPEC = re.compile(r"(?P<name>@?[^@\s\[=<>~!]+)(?:\[[^\]]*\])?(?P<version>(?:@|[=<>~!]=?).*)?\Z")
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+(?:#.*)?\Z|(?:github|gitlab|bitbucket|gist):|\w+\+?\w*://|[\w.-]+@[\w.-]+:")
PARENTS_MAX = 4  # directories above the working one in which a project's tools may be installed


def fetched(call: Call, name: str, ground: Ground) -> list[Effect] | None:
    """What the runner brings in, as effects; None where `call` is no runner."""
    title, args = name, call.argv[1:]
    base = find_row(name)
    valued = base.with_value if base else frozenset()
    while title not in RUNNERS:
        args = args[command_at(args, valued) :]
        if not args or title.count(" ") == 2:
            return None
        title, args = f"{title} {args[0]}", args[1:]
    runner = RUNNERS[title]
    at = command_at(args, runner.with_value)
    options, rest = args[:at], args[at:]
    found: list[Effect] = []
    named = False
    for option, value in _values(options, runner.with_value):
        if option in runner.named:
            named = True
            found.extend(_brought(value, call, ground, title))
        elif option in runner.lists and (made := source(value, call, ground, title)):
            found.append(made)
    if rest and not named and not runner.script:
        if runner.project and _YES.isdisjoint(options) and _plain(rest[0]):
            found.extend(_of_project(rest[0], call, ground, title))
        else:
            found.extend(_brought(rest[0], call, ground, title))
    return found


def _values(options: tuple[str, ...], valued: frozenset[str]) -> list[tuple[str, str]]:
    found = []
    for i, word in enumerate(options):
        name, equals, value = word.partition("=")
        if equals:
            found.append((name, value))
        elif word in valued and i + 1 < len(options):
            found.append((word, options[i + 1]))
        elif word[:2] in valued and not word.startswith("--") and len(word) > 2:
            found.append((word[:2], word[2:]))
    return found


def _brought(word: str, call: Call, ground: Ground, title: str) -> list[Effect]:
    spec = _SPEC.match(word)
    if spec is not None and not _REPOSITORY.match(word) and spec["name"] in known_programs():
        return []
    made = package(word, call, ground, title)
    return [made] if made else []


def _plain(word: str) -> bool:
    """A name alone, without a version: what is installed in the project is called like that."""
    spec = _SPEC.match(word)
    return (
        spec is not None
        and not spec["version"]
        and (word.startswith("@") or not _REPOSITORY.match(word))
        and known(word)
    )


def _of_project(word: str, call: Call, ground: Ground, title: str) -> list[Effect]:
    """A tool that the project has, as far as can be seen; one that was looked for and is not there gets fetched."""
    if is_local(word) or word in known_programs() or not call.cwd.startswith("/") or UNKNOWN in call.cwd:
        return []
    directories = [call.cwd]
    while len(directories) < PARENTS_MAX and directories[-1] != "/":
        directories.append(posixpath.dirname(directories[-1]))
    manifest = ground.want("file", posixpath.join(call.cwd, "package.json"))
    looks = [ground.want("file", posixpath.join(each, "node_modules/.bin", word)) for each in directories]
    if manifest is None or manifest.problem:
        return []
    there = any(found is None or found.problem != "missing" for found in looks)
    if there and "/" not in word:  # a scoped package: the program in it is called otherwise
        return []
    made = package(word, call, ground, title)
    return [made] if made else []


def _uv(call: Call) -> Unwrapped | None:
    """uv run FILE.py: a script rather than a program of that name."""
    if call.argv[1:2] != ("run",):
        return None
    args = call.argv[2:]
    at = command_at(args, RUNNERS["uv run"].with_value)
    script = args[at : at + 1]
    if script == ("-",):
        return commands(("python3", *args[at:]))
    wanted = script and (script[0].endswith((".py", ".pyw")) or not {"-s", "--script"}.isdisjoint(args[:at]))
    return interpreters.script(script[0], args[at + 1 :], "python") if wanted else None


_BARE_VALUED = names("-C --dir --cwd --prefix -F --filter")
_SCRIPTS = names("migrate console")
"""Names of tools that are scripts' names more often than not."""


def _bare(call: Call) -> Unwrapped | None:
    """pnpm TOOL, yarn TOOL: what is neither a subcommand nor a script is a program that the project has."""
    args = call.argv[1:]
    at = command_at(args, _BARE_VALUED)
    if args[at : at + 1] == ("workspace",):
        at += 2
    tool = args[at : at + 1]
    if at and tool in (("exec",), ("dlx",)):
        rest = args[at + 1 :]
        return commands(rest[command_at(rest, _BARE_VALUED) :])
    own = not tool or tool[0] in _SCRIPTS or find_operation(call.name, tool) is not None
    return None if own or tool[0] not in with_subcommands() else commands(args[at:])


_COMPOSE = names("up down build ps logs stop start restart pull push exec run rm config kill top images port events")


def _sail(call: Call) -> Unwrapped | None:
    """Laravel's sail: docker compose, and programs within its containers."""
    args = call.argv[1:]
    return commands(("docker", "compose", *args) if args[:1] and args[0] in _COMPOSE else args)


def _symfony(call: Call) -> Unwrapped | None:
    return commands(call.argv[1:]) if call.argv[1:2] in (("console",), ("php",)) else None


_TOGETHER = names(
    "-n --names -c --prefix-colors -p --prefix -l --prefix-length -t --timestamp-format -m --max-processes -s --success"
    " --restart-tries --restart-after --default-input-target --hide --kill-signal --kill-timeout --cwd"
)


def _together(call: Call) -> Unwrapped | None:
    """concurrently: each operand is a command line, or the name of a package's script (shell.local)."""
    lines = [line for line in split(call.argv[1:], _TOGETHER).operands if not SCRIPT.match(line)]
    return Unwrapped(code=tuple(lines)) if lines else None


def _cargo(call: Call) -> Unwrapped | None:
    return commands(call.argv[1:]) if call.argv[1:2] == ("sqlx",) else None


UNWRAPS: dict[str, Callable[[Call], Unwrapped | None]] = {
    "cargo": _cargo,
    "sail": _sail,
    "symfony": _symfony,
    "uv": _uv,
    "concurrently": _together,
    **dict.fromkeys(("pnpm", "yarn", "bun"), _bare),
}
