"""Programs that act on processes and services: would this reach reflexd, or what everybody on the machine uses?"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from reflexd.shell.calls import Call
from reflexd.shell.fields import GLOB_MARKS, UNKNOWN, UNSET, shown
from reflexd.shell.options import names, split
from reflexd.shell.places import Ground
from reflexd.shell.realms import machines
from reflexd.types import Effect, Place

_NAME = "reflexd"
_UNITS = ("reflexd.service", "reflexd.socket", "reflexd", "reflex", "reflexd.plist")
_SIGNAL = re.compile(r"-(?:\d{1,2}|(?:SIG)?[A-Z][A-Z0-9+-]*)\Z")
_INVOLVED = re.compile(r"\)[*+?{]|\\\d|\(\?|\[\[|\[:|(?:[*+{].*){4}")  # could take for ever, or is no plain pattern
_PATTERN_MAX = 100
_SYSTEMCTL_LOOKS = names(
    "status show cat is-active is-enabled"
    " is-failed is-system-running list-units list-unit-files list-timers list-sockets"
    " list-dependencies list-jobs list-automounts list-paths list-machines get-default show-environment help log-level"
)
_LAUNCHCTL_LOOKS = names("list print print-disabled blame getenv version help dumpstate hostinfo managername")


def _kill(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    words = list(call.argv[1:])
    if words[:1] in (["-l"], ["-L"], ["--list"]):
        return [], True
    signal = ""
    while words and (words[0] in ("-s", "-n", "-q", "--signal") or _SIGNAL.match(words[0])) and len(words) > 1:
        option = words.pop(0)
        signal = words.pop(0) if option in ("-s", "-n", "-q", "--signal") else option[1:]
    if words[:1] == ["--"]:
        words.pop(0)
    if signal == "0":
        return [], True
    found = []
    for word in words:
        places: tuple[Place, ...] = ()
        if word == "-1" or word.lstrip("-") in ground.own_pids:
            places = ("reflex",)
        elif UNKNOWN in word or UNSET in word:
            places = ("unknown",)
        found.append(Effect("signal", shown(word), places, detail=call.name))
    return found, False


def _pkill(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    args = tuple(word for word in call.argv[1:] if not _SIGNAL.match(word))
    valued = names(
        "-u -U -g -G -P -s -t -F -r -c --signal --uid --euid --group --parent --session --terminal --pidfile"
    )
    words = split(args, valued)
    if call.name == "pgrep":
        return [], True
    if words.value("--signal") == "0" or "-0" in call.argv:
        return [], True
    everyone = not words.operands or words.has("-v", "--inverse")
    narrowed = words.has("-P", "--parent", "-t", "--terminal", "-s", "--session", "-F", "--pidfile")
    texts = [_NAME]
    if words.has("-f", "--full"):
        share = next((path for path in ground.protected if path.endswith("/share/reflex")), "/.local/share/reflex")
        texts = [f"{share}/venv/bin/python {share}/venv/bin/{_NAME}", f"{share}/venv/bin/python -m reflexd"]
    exact = words.has("-x", "--exact")
    hit = everyone and not narrowed
    for pattern in words.operands:
        hit = hit or any(_reaches(pattern, text, exact, words.has("-i", "--ignore-case")) for text in texts)
    target = " ".join(shown(word) for word in words.operands) or "every process"
    return [Effect("signal", target, ("reflex",) if hit else (), detail=call.name)], False


def _killall(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    args = tuple(word for word in call.argv[1:] if not _SIGNAL.match(word))
    words = split(args, names("-s -u -o -y -Z -n --signal --user --older-than --younger-than --ns"))
    if words.has("-l", "--list"):
        return [], True
    found = []
    for name in words.operands:
        if words.has("-r", "--regexp", "-m"):
            hit = _reaches(name, _NAME, False, words.has("-I", "--ignore-case"))
        else:
            hit = _spells(name, _NAME) or name.rpartition("/")[2] == _NAME
        found.append(Effect("signal", shown(name), ("reflex",) if hit else (), detail="killall"))
    if not words.operands and words.has("-u", "--user"):
        found.append(Effect("signal", "every process", ("reflex",), detail="killall"))
    return found, False


def _systemctl(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    valued = names(
        "-H -M -t -p -P -s -n -o --host --machine --type --state --property --signal --lines --output --job-mode"
    )
    words = split(call.argv[1:], valued)
    verb, units = (words.operands[0], words.operands[1:]) if words.operands else ("list-units", ())
    if verb in _SYSTEMCTL_LOOKS:
        return [], True
    if verb in ("set-environment", "import-environment"):
        return [Effect("environment", unit.partition("=")[0], detail="systemctl") for unit in units], False
    if verb == "exit" or (verb in ("isolate", "default", "rescue", "emergency") and words.has("--user")):
        return [Effect("control", f"systemctl {verb}", ("reflex",), detail="systemctl")], False
    hit = [unit for unit in units if any(_spells(unit, own) for own in _UNITS)]
    found = [Effect("control", f"systemctl {verb} {shown(unit)}", ("reflex",), detail="systemctl") for unit in hit]
    if verb not in _STARTS:
        own = words.has("--user") and not words.has("-H", "--host")
        found.append(_controls(call, (verb, *units), own, verb in _ALL))
    return found, False


_STARTS = names("start reload-or-try-restart daemon-reload reset-failed edit revert link add-wants")
"""Nothing that runs is interrupted, and nothing stays switched on."""
_ALL = names("poweroff reboot halt suspend hibernate hybrid-sleep kexec soft-reboot switch-root isolate set-default")


def _controls(call: Call, words: tuple[str, ...], own: bool, all_of_it: bool = False) -> Effect:
    """A service is stopped, started again or switched off: the user's own, or one of the machine."""
    here: tuple[Place, ...] = ("elsewhere", "unknown") if machines(call) else ("system",)
    where: tuple[Place, ...] = ("service",) if own and not all_of_it else here
    return Effect("control", " ".join((call.name, *map(shown, words[:3]))), where, detail=call.name)


def _launchctl(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    words = [word for word in call.argv[1:] if not word.startswith("-")]
    verb = words[0] if words else "help"
    if verb in _LAUNCHCTL_LOOKS:
        return [], True
    if verb == "setenv":
        return [Effect("environment", word, detail="launchctl") for word in words[1:2]], False
    whole = verb in ("bootout", "kill", "reboot") and any(re.fullmatch(r"(gui|user)/\d+", word) for word in words)
    if whole or any("reflex" in word for word in words[1:]):
        return [
            Effect("control", " ".join(["launchctl", *map(shown, words[:2])]), ("reflex",), detail="launchctl")
        ], False
    if verb in _LAUNCHCTL_STARTS:
        return [], False
    system = "sudo" in call.via or any(re.match(r"system\b|/Library/", word) for word in words[1:])
    return [_controls(call, tuple(words), not system)], False


_LAUNCHCTL_STARTS = names("start kickstart bootstrap load enable asuser limit error procinfo")


def _service(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    words = call.argv[1:]
    if len(words) > 1 and _spells(words[0], _NAME) and words[1] != "status":
        return [Effect("control", f"service {shown(words[0])} {shown(words[1])}", ("reflex",), detail="service")], False
    if len(words) < 2 or words[1] in ("status", "start") or words[0].startswith("--status"):
        return [], False
    return [_controls(call, words, False)], False


def _loginctl(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    words = [word for word in call.argv[1:] if not word.startswith("-")]
    verb = words[0] if words else "list-sessions"
    if verb in ("terminate-user", "kill-user", "terminate-session", "kill-session", "disable-linger"):
        return [Effect("control", f"loginctl {verb}", ("reflex",), detail="loginctl")], False
    if verb.startswith(("list", "show")) or verb.endswith("status"):
        return [], True
    return [_controls(call, tuple(words), True)], False


def _spells(word: str, name: str) -> bool:
    """Whether the word is the name, as it stands or as a pattern (a service manager expands its own)."""
    text = shown(word)
    if UNKNOWN in word or UNSET in word:
        return "reflex" in text
    if any(mark in word for mark in GLOB_MARKS) or "*" in text or "?" in text:
        return fnmatchcase(name, text)
    return text in (name, name + ".service")


def _reaches(pattern: str, text: str, exact: bool, fold: bool) -> bool:
    """Whether a pkill pattern matches; one too involved to be tried counts by the words in it."""
    shown_pattern = shown(pattern)
    if UNKNOWN in pattern or UNSET in pattern:
        return _NAME in shown_pattern
    if len(shown_pattern) > _PATTERN_MAX or _INVOLVED.search(shown_pattern):
        return "reflex" in shown_pattern
    try:
        compiled = re.compile(shown_pattern, re.IGNORECASE if fold else 0)
    except (re.error, OverflowError, RecursionError):
        return "reflex" in shown_pattern
    return (compiled.fullmatch(text) if exact else compiled.search(text)) is not None


def _whose(pid: str, ground: Ground) -> tuple[Place, ...]:
    return ("reflex",) if pid in ground.own_pids else ("unknown",) if UNKNOWN in pid else ()


def _attach(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    """A debugger or tracer that takes hold of a running process."""
    pids = split(call.argv[1:], names("-p --pid -e -o -s -u -E -P -a -b -I -O -S -X -ex -x")).all("-p", "--pid")
    return [Effect("signal", shown(pid), _whose(pid, ground), detail=call.name) for pid in pids], False


def _crontab(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    words = split(call.argv[1:], names("-u"))
    if words.has("-l"):
        return [], True
    if words.has("-r"):
        return [Effect("delete", "crontab", ("startup",), detail="crontab")], False
    return [Effect("write", "crontab", ("startup",), detail="crontab")], False


SPECIAL = {
    "crontab": _crontab,
    **dict.fromkeys(("gdb", "lldb", "strace", "ltrace", "reptyr", "gcore"), _attach),
    "kill": _kill,
    "pkill": _pkill,
    "pgrep": _pkill,
    "skill": _pkill,
    "killall": _killall,
    "killall5": _pkill,
    "systemctl": _systemctl,
    "launchctl": _launchctl,
    "service": _service,
    "loginctl": _loginctl,
}
