"""What a git command runs besides git: by its own options, by settings that it is given, by variables, by URLs."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from reflexd.shell.calls import Call
from reflexd.shell.carriers import ITEMS_MAX, Unwrapped
from reflexd.shell.fields import UNKNOWN
from reflexd.shell.gitkeys import carried, code
from reflexd.shell.options import names, split

_VALUED = names("-C --git-dir --work-tree --namespace --super-prefix --attr-source")
_QUOTED = re.compile(r"'((?:[^']|'\\'')*)'(?:='((?:[^']|'\\'')*)')?")
# Options of subcommands whose value is a command line for the shell.
_RUNNING = {
    "clone": names("-u --upload-pack"),
    **dict.fromkeys(("fetch", "pull", "ls-remote", "fetch-pack"), names("--upload-pack --exec")),
    **dict.fromkeys(("push", "send-pack"), names("--receive-pack --exec")),
    "archive": names("--exec"),
    "rebase": names("-x --exec"),
    "grep": names("-O= --open-files-in-pager="),  # these take a value only in the same word
    "difftool": names("-x --extcmd"),
    "mergetool": names("-x --extcmd"),
    "send-email": names("--smtp-server --sendmail-cmd --to-cmd --cc-cmd --header-cmd"),
    "instaweb": names("-d --httpd -b --browser"),
    "help": names("--browser"),
    "web--browse": names("-b --browser"),
    "daemon": names("--access-hook"),
}
_OTHERS = names("-s -X --onto --strategy -o --origin -b --branch --depth --reference -j --jobs -m --push-option -e -f")
_CONFIG_VALUED = names("-f --file --blob --type -t --default --comment --value --url")
_REACHING = names("archive bundle clone fetch fetch-pack ls-remote pull push remote send-pack submodule")


def held(call: Call) -> Unwrapped | None:
    """Everything that the call runs in turn; None where it only runs git."""
    args = call.argv[1:]
    opaque: list[str] = []
    found = [code(key, value) for key, value in _given(call, opaque)]
    i = 0
    while i < len(args) and args[i].startswith("-"):
        name, equals, value = args[i].partition("=")
        if name == "-c" and i + 1 < len(args):
            found.append(_configured(args[i + 1]))
            i += 1
        elif name == "--config-env":
            setting = value if equals else args[i + 1] if i + 1 < len(args) else ""
            i += not equals
            found.append(_from_variable(setting, call, opaque))
        elif name == "--exec-path" and equals:
            opaque.append("git takes its programs from a directory that is given")
        elif name in _VALUED and not equals:
            i += 1
        i += 1
    sub, rest = (args[i], args[i + 1 :]) if i < len(args) else ("", ())
    commands = (rest[1:],) if sub == "bisect" and rest[:1] == ("run",) and rest[1:] else ()
    found.extend(_by_subcommand(sub, rest))
    if sub in _REACHING:
        found.extend(carried(word) for word in rest)
    texts = tuple(text for text in found if text)[:ITEMS_MAX]
    if not texts and not commands and not opaque:
        return None
    return Unwrapped(commands=commands, code=texts, opaque=tuple(opaque))


def subcommand(call: Call) -> tuple[str, tuple[str, ...], str]:
    """The subcommand, its words, and the directory that git works from; empty where there is none."""
    args = call.argv[1:]
    cwd = posixpath.join(call.cwd, dict((*call.exported, *call.assigned)).get("GIT_DIR", ""))
    i = 0
    while i < len(args) and args[i].startswith("-"):
        name, equals, value = args[i].partition("=")
        if not equals and name in _VALUED | {"-c", "--config-env"}:
            value = args[i + 1] if i + 1 < len(args) else ""
            i += 1
        if name in ("-C", "--git-dir") and value:
            cwd = posixpath.normpath(posixpath.join(cwd, value))
        i += 1
    return (args[i], args[i + 1 :], cwd) if i < len(args) else ("", (), cwd)


def _by_subcommand(sub: str, rest: tuple[str, ...]) -> Iterable[str]:
    match sub:
        case "submodule" if "foreach" in rest[:3]:
            words = rest[rest.index("foreach") + 1 :]
            yield " ".join(word for word in words if word not in ("--recursive", "-q", "--quiet"))
        case "filter-branch":
            yield from (value for flag, value in pairwise(rest) if flag.endswith("-filter"))
        case "config":
            words = setting_words(rest)
            if len(words) > 1:
                yield code(*words[:2])
        case "clone":
            given = split(rest, _OTHERS | names("-c --config -u --upload-pack"))
            yield from map(_configured, given.all("-c", "--config"))
    flags = _RUNNING.get(sub)
    if flags:
        yield from split(rest, flags | _OTHERS).all(*flags)
        attached = [flag.rstrip("=") if flag[1] != "-" else flag for flag in flags if flag[1] != "-" or flag[-1] == "="]
        yield from (word[len(flag) :] for word in rest for flag in attached if word.startswith(flag))


def setting_words(rest: tuple[str, ...]) -> tuple[str, ...]:
    """The key and the value among the words of `git config`, after the verb where there is one."""
    words = split(rest, _CONFIG_VALUED).operands
    return words[1:] if words[:1] and words[0] in ("set", "get", "unset", "list") else words


def _configured(setting: str) -> str:
    key, _, value = setting.partition("=")
    return code(key.strip(), value)


def _from_variable(setting: str, call: Call, opaque: list[str]) -> str:
    key, _, name = setting.partition("=")
    value = dict((*call.exported, *call.assigned)).get(name)
    if value is None and code(key, "x"):
        opaque.append(f"what git runs as {key} is in a variable that nothing here sets")
    return code(key, value or "")


def _given(call: Call, opaque: list[str]) -> Iterator[tuple[str, str]]:
    """Settings that the line puts into the environment."""
    env = dict((*call.exported, *call.assigned))
    for name, key in env.items():
        if name.startswith("GIT_CONFIG_KEY_"):
            yield key, env.get(f"GIT_CONFIG_VALUE_{name.removeprefix('GIT_CONFIG_KEY_')}", UNKNOWN)
    for key, value in _QUOTED.findall(env.get("GIT_CONFIG_PARAMETERS", "")):
        name, _, rest = key.partition("=")
        yield name, (value or rest).replace("'\\''", "'")
    if env.get("GIT_EXEC_PATH"):
        opaque.append("git takes its programs from a directory that is given")
