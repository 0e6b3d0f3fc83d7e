"""Programs whose options, settings or input name a command that they run: git, tar, editors, schedulers, make."""

from __future__ import annotations

import re
from collections.abc import Callable

from reflexd.shell import buildfiles, gitcode, sedcode
from reflexd.shell.calls import Call
from reflexd.shell.carriers import ITEMS_MAX, Unwrapped, commands
from reflexd.shell.options import names, split


def _tar(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    code = [word.partition("exec=")[2] for word in args if word.startswith("--checkpoint-action") and "exec=" in word]
    valued = names("-f -C -I --to-command --use-compress-program --info-script --new-volume-script --rsh-command -F")
    found = split(args, valued)
    code.extend(found.all("--to-command", "--info-script", "--new-volume-script", "-F", "-I", "--use-compress-program"))
    return Unwrapped(code=tuple(code)) if code else None


def _rsync(call: Call) -> Unwrapped | None:
    found = split(call.argv[1:], names("-e --rsh --rsync-path --exclude --include -f"))
    code = found.all("-e", "--rsh", "--rsync-path")
    return Unwrapped(code=code) if code else None


_VIM_RUNS = re.compile(
    r"[\s:]*(?:(?:sil(?:ent)?!?|noa\w*|keep\w*|vert\w*|bel\w*|bo\w*|tab)[\s:]+)*(?:exe(?:cute)?\s+['\"]:*)?"
    r"(?:(?:[%.$\d,']*|r(?:ead)?\s+|w(?:rite)?\s+)!|ter(?:minal)?!?\s+(?:\+\+\w+\s+)*)\s*(.+)",
    re.S,
)


_VIM_SYSTEM = re.compile(r"\bsystem(?:list)?\(\s*(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^']|'')*)')")
_VIM_ESCAPED = re.compile(r"\\([%#!])")


def _vim(call: Call) -> Unwrapped | None:
    texts = split(call.argv[1:], names("-c --cmd")).all("-c", "--cmd")
    texts = (*texts, *(word[1:] for word in call.argv[1:] if word.startswith("+")))
    code = [found[1] for text in texts if (found := _VIM_RUNS.match(text))]
    code = [_VIM_ESCAPED.sub(r"\1", text) for text in code]
    for text in texts:
        code.extend(re.sub(r"\\(.)", r"\1", a) or b.replace("''", "'") for a, b in _VIM_SYSTEM.findall(text))
    return Unwrapped(code=tuple(code)) if code else None


def _at(call: Call) -> Unwrapped | None:
    """at and batch run what they read, later."""
    if {"-l", "-r", "-d", "-c", "-q"} & set(call.argv) and call.stdin is None:
        return None
    return Unwrapped(code=(call.stdin,)) if call.stdin is not None else None


def _crontab(call: Call) -> Unwrapped | None:
    if call.stdin is None or any(word in ("-l", "-r", "-e") for word in call.argv[1:]):
        return None
    lines = [re.sub(r"^\s*(?:@\w+|(?:\S+\s+){5})", "", line) for line in call.stdin.splitlines() if line[:1] != "#"]
    return Unwrapped(code=tuple(line.replace("\\%", "%") for line in lines if line.strip())[:ITEMS_MAX])


def _compiler(call: Call) -> Unwrapped | None:
    """-wrapper takes a command with its words between commas."""
    at = next((i for i, word in enumerate(call.argv[:-1]) if word == "-wrapper"), None)
    return commands(tuple(call.argv[at + 1].split(","))) if at is not None else None


def _apt(call: Call) -> Unwrapped | None:
    """Settings whose value is run before or after what apt does."""
    settings = split(call.argv[1:], names("-o --option -t -c")).all("-o", "--option")
    code = [value for key, _, value in (text.partition("=") for text in settings) if _INVOKES.search(key) and value]
    return Unwrapped(code=tuple(code)[:ITEMS_MAX]) if code else None


def _socat(call: Call) -> Unwrapped | None:
    """Addresses that are programs, with options behind a comma."""
    found = [match[1] for word in call.argv[1:] if (match := _SOCAT_RUNS.match(word))]
    return Unwrapped(code=tuple(found)[:ITEMS_MAX]) if found else None


def _m4(call: Call) -> Unwrapped | None:
    code = buildfiles.m4(call.stdin) if call.stdin is not None else []
    return Unwrapped(code=tuple(code)[:ITEMS_MAX]) if code else None


_INVOKES = re.compile(r"Invoke|Pkgs|Update-Command|\bDir::Bin", re.I)
_SOCAT_RUNS = re.compile(r"(?:EXEC|SYSTEM|SHELL):([^,]+)", re.I | re.S)
_ESCAPES = re.compile(r"\s*\+?(?:\\?!|\.(?:shell|system)\s|(?:platform\s+)?shell\s)\s*(.+)")


def prompt(call: Call) -> Unwrapped | None:
    """Programs with a prompt of their own at which a line can go to a shell: ed, gdb, less, ftp."""
    lines = [*(call.stdin or "").splitlines(), *(line for word in call.argv[1:] for line in word.splitlines())]
    code = [match[1] for line in lines if (match := _ESCAPES.match(line))]
    if call.name == "ed":
        code = [_VIM_ESCAPED.sub(r"\1", text) for text in code]
    return Unwrapped(code=tuple(code)[:ITEMS_MAX]) if code else None


def _powershell(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    for i, word in enumerate(args):
        if word.lower() in ("-c", "-command", "/c") and i + 1 < len(args):
            return Unwrapped(code=(" ".join(args[i + 1 :]).replace("\\", "/"),))
        if word.lower() in ("-e", "-ec", "-enc", "-encodedcommand"):
            return Unwrapped(opaque=("powershell runs encoded text",))
    return None


_BOUND = re.compile(r"(?:execute|become|reload|preview|transform)[a-z-]*(?:\(([^)]*)\)|:(.*))")


def _fzf(call: Call) -> Unwrapped | None:
    valued = names("--bind --preview -q --query -f --filter -d --delimiter -n --nth --prompt --header")
    found = split(call.argv[1:], valued)
    code = [left or right for text in found.all("--bind") for left, right in _BOUND.findall(text)]
    code.extend(found.all("--preview"))
    return Unwrapped(code=tuple(code)[:ITEMS_MAX]) if code else None


SPECIAL: dict[str, Callable[[Call], Unwrapped | None]] = {
    "sed": sedcode.unwrap,
    "gsed": sedcode.unwrap,
    "m4": _m4,
    **dict.fromkeys(("gcc", "g++", "cc", "c++"), _compiler),
    **dict.fromkeys(("apt", "apt-get", "aptitude"), _apt),
    "socat": _socat,
    **dict.fromkeys(("ed", "dc", "gdb", "lldb", "less", "more", "ftp", "lftp"), prompt),
    **dict.fromkeys(("pwsh", "powershell", "pwsh.exe", "powershell.exe"), _powershell),
    "fzf": _fzf,
    "git": gitcode.held,
    "tar": _tar,
    "gtar": _tar,
    "bsdtar": _tar,
    "rsync": _rsync,
    **dict.fromkeys(("vim", "vi", "nvim", "ex", "view"), _vim),
    "at": _at,
    "batch": _at,
    "crontab": _crontab,
}
