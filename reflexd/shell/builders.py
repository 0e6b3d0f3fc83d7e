"""Build tools: tasks that publish what was built, and what they are told to run in so many words."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from fnmatch import fnmatchcase

from reflexd.shell import makefile
from reflexd.shell.calls import Call, Local
from reflexd.shell.carriers import Unwrapped, commands
from reflexd.shell.fields import PIPED, known, shown
from reflexd.shell.operands import unknown
from reflexd.shell.options import names, split
from reflexd.shell.places import Ground
from reflexd.types import Effect

_GRADLE = (
    ("publish*", "*:publish*", "uploadArchives", "closeAndRelease*", "*:closeAndRelease*"),
    ("*MavenLocal", "*LocalRepository*"),
)
_MAVEN = (("deploy", "*:deploy", "*:deploy@*", "deploy:deploy-file", "release:perform", "*:publish"), ())
PUBLISHING: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    **dict.fromkeys(("gradle", "gradlew", "gradlew.bat"), _GRADLE),
    **dict.fromkeys(("mvn", "mvnw", "mvnd"), _MAVEN),
    "sbt": (
        (
            "publish",
            "publishSigned",
            "*/publish",
            "*/publishSigned",
            "sonatypeRelease*",
            "sonatypeBundleRelease",
            "release",
        ),
        (),
    ),
    "mill": (("*.publish", "*publishAll*"), ("*.publishLocal",)),
    "nx": (("release", "publish", "nx-release-publish"), ()),
}
"""Program -> the tasks that publish, and those named alike that stay on this machine."""
_DRY = {
    "gradle": ("-m", "--dry-run"),
    "gradlew": ("-m", "--dry-run"),
    "nx": ("-d", "--dry-run"),
}
_VALUED = names(
    "-P -D -p -f -b -c -t -I -pl -x --project-dir --build-file --settings-file --projects --exclude-task --init-script"
    " --file --target"
)


def publishes(name: str, call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    """A build, and what of it reaches others."""
    found = unknown(call, ground)
    tasks, local = PUBLISHING[name]
    words = call.argv[1:]
    if any(flag in words for flag in _DRY.get(name, ())):
        return found, False
    for before, word in zip(("", *words), words, strict=False):
        if word.startswith("-") or before in _VALUED:
            continue
        if any(fnmatchcase(word, task) for task in tasks) and not any(fnmatchcase(word, task) for task in local):
            found.append(Effect("change", f"{name} {shown(word)}", ("elsewhere", "unknown"), detail=shown(word)))
    return found, False


def cmake(call: Call) -> Unwrapped | None:
    """cmake -E COMMAND: its own small versions of everyday programs."""
    if call.argv[1:2] != ("-E",):
        return None
    verb, *rest = (*call.argv[2:], "")
    words = tuple(rest[:-1])
    match verb:
        case "rm" | "touch" | "cat" | "env" | "time" | "echo":
            return commands((verb, *words))
        case "remove":
            return commands(("rm", *words))
        case "remove_directory":
            return commands(("rm", "-rf", *words))
        case "copy" | "copy_if_different" | "copy_directory":
            return commands(("cp", "-r", *words))
        case "rename":
            return commands(("mv", *words))
        case "make_directory":
            return commands(("mkdir", "-p", *words))
        case "tar":
            return commands(("tar", *words))
        case "chdir":
            return Unwrapped(commands=(words[1:],), cwd=words[0]) if len(words) > 1 else None
        case _:
            return None


_STDIN = names("- /dev/stdin /dev/fd/0 /proc/self/fd/0")


def make(call: Call) -> Unwrapped | None:
    """Rules that stand in the call or come on its standard input, and commands among its words."""
    words = call.argv[1:]
    found = split(words, names("-f --file --makefile -C --directory -o -W -I --include-dir -E --eval"))
    code = [match for word in words for match in re.findall(r"\$\(shell ([^)]*)\)", word)]
    code.extend(word.partition("=")[2] for word in words if re.match(r"(?:SHELL|MAKE)\s*[:?]?=", word))
    rules = list(found.all("-E", "--eval"))
    opaque: tuple[str, ...] = ()
    for file in found.all("-f", "--file", "--makefile"):
        if file in _STDIN and call.stdin is not None and known(call.stdin):
            rules.append(call.stdin)
        elif file in _STDIN or file.startswith(PIPED):
            opaque = ("make takes its rules from a pipe, which nobody has seen",)
    if not rules:
        return Unwrapped(code=tuple(code), opaque=opaque) if code or opaque else None
    read = makefile.read("\n".join(rules), Local("make", "", "makefile", found.operands))
    return Unwrapped(read.commands, (*code, *read.code), opaque=(*opaque, *read.opaque))


def just(call: Call) -> Unwrapped | None:
    """just --command: a program with its words."""
    at = next((i for i, word in enumerate(call.argv) if word in ("-c", "--command")), 0)
    return commands(call.argv[at + 1 :]) if at else None


_SCHEMA = re.compile(r"(?:\S*:)?(?P<tool>flyway|liquibase)(?:-maven-plugin(?::[\w.-]+)?)?:?(?P<verb>[A-Za-z-]+)\Z")


def schema(call: Call) -> Unwrapped | None:
    """Tasks of Maven and Gradle that stand for a migration tool: flyway:clean, flywayClean."""
    found = [match for word in call.argv[1:] if (match := _SCHEMA.match(word))]
    address = tuple(f"-url={word.partition('=')[2]}" for word in call.argv[1:] if re.match(r"-[DP]\w+\.url=", word))
    verbs = [(match["tool"], *address, match["verb"][:1].lower() + match["verb"][1:]) for match in found]
    return Unwrapped(commands=tuple(verbs)) if verbs else None


UNWRAPS: dict[str, Callable[[Call], Unwrapped | None]] = {
    "cmake": cmake,
    **dict.fromkeys(("mvn", "mvnw", "mvnd", "gradle", "gradlew", "gradlew.bat"), schema),
    "make": make,
    "gmake": make,
    "just": just,
}
SPECIAL: dict[str, Callable[[Call, Ground], tuple[list[Effect], bool]]] = {
    name: functools.partial(publishes, name) for name in PUBLISHING
}
