"""rsync, scp, netcat: files that go to another machine, or come from there."""

from __future__ import annotations

import re

from reflexd.shell import web
from reflexd.shell.arguments import Parsed, parse, roles
from reflexd.shell.calls import Call
from reflexd.shell.fields import shown
from reflexd.shell.operands import effect, unknown
from reflexd.shell.options import names, split
from reflexd.shell.places import Ground
from reflexd.shell.programs import find_row
from reflexd.shell.realms import places
from reflexd.types import Effect, EffectKind


def _rsync(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    row = find_row("rsync")
    assert row is not None
    parsed = parse(call.argv[1:], row)
    if parsed.has(frozenset({"-n", "--dry-run"})) and not any(flag.startswith("--no-") for flag in parsed.flags):
        return [], False
    found = []
    deletes = any(flag.startswith("--del") for flag in parsed.flags)
    named = [(role, word) for role, word in roles(parsed, row) if not remote(word)]
    if deletes:
        named.extend(("delete", word) for role, word in named[:] if role == "write" and word in parsed.operands[-1:])
    if "--remove-source-files" in parsed.flags:
        named.extend(("move", word) for role, word in named[:] if role == "read")
    for role, word in named:
        made = effect(role, word, call, ground, deep=role in ("delete", "read"), detail="rsync")
        if made:
            found.append(made)
    found.extend(_carried(call, parsed, deletes, ground))
    return found, False


def _scp(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    row = find_row("scp")
    assert row is not None
    parsed = parse(call.argv[1:], row)
    deep = parsed.has(frozenset({"-r"}))
    named = [(role, word) for role, word in roles(parsed, row) if not remote(word)]
    found = [made for role, word in named if (made := effect(role, word, call, ground, deep=deep, detail="scp"))]
    found.extend(_carried(call, parsed, False, ground))
    return found, False


def remote(word: str) -> bool:
    """Whether a word names another machine: `host:path`, `rsync://host/path`."""
    if word.startswith(("rsync://", "scp://", "sftp://")):
        return True
    name, colon, _ = word.partition(":")
    return bool(colon) and "/" not in name


def _carried(call: Call, parsed: Parsed, deletes: bool, ground: Ground) -> list[Effect]:
    """What files do that come to another machine. They may be a deployment; what they replace there is gone."""
    # The last word, unless an option that nobody described may have left its value there.
    ends = [word for word in parsed.operands[1:] if remote(word)]
    if not ends or not (parsed.strange or remote(parsed.operands[-1])):
        return []
    target = ends[-1]
    where = places("host", call, Parsed(frozenset(), (), (target,), False), ground)
    if web.is_local(target.partition("://")[2] or target.partition(":")[0].rpartition("@")[2]):
        where = ("service",)
    kind: EffectKind = "send"
    if deletes:
        kind = "destroy" if _shallow(target.partition("://")[2] or target.partition(":")[2]) else "change"
    elif "production" in where:
        kind = "change"
    else:
        where = tuple(place for place in where if place != "unknown")
    words = f"{call.name} --delete" if deletes else call.name
    return [Effect(kind, f"{words} {shown(target)}", where, recursive=deletes, detail=call.name)]


def _shallow(path: str) -> bool:
    """Whether a path on another machine is all of it, a home, or a directory of the system."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    return len(parts) < (2 if path.startswith("/") else 1) or parts[0] in ("~", "etc", "usr", "bin", "lib", "boot")


def _netcat(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    """A connection; one that is given a program hands that program to whoever is at the other end."""
    words = split(call.argv[1:], names("-e -c -p -s -w -i -q -x -X -T -I -O -g -G --exec --sh-exec --lua-exec"))
    shell = words.value("-e", "--exec", "--sh-exec", "--lua-exec") or (words.value("-c") or "").partition(" ")[0]
    found = unknown(call, ground)
    target = " ".join(map(shown, words.operands))
    found.append(Effect("connect", target, detail="shell" if shell else ""))
    listens = words.has("-l", "--listen")
    fed = bool(call.input_file) or (call.fed == "pipe" and call.stdin is None)
    if fed and words.operands and not listens and not web.is_local(words.operands[0]):
        found.append(Effect("send", f"standard input to {target}", ("elsewhere", "unknown"), detail=call.name))
    return found, False


def _socat(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    text = " ".join(call.argv[1:]).lower()
    runs = re.search(r"\b(?:exec|system|shell):", text) and re.search(r"\b(?:tcp|udp|ssl|openssl|sctp)\w*[:-]", text)
    found = unknown(call, ground)
    found.append(Effect("connect", shown(" ".join(call.argv[1:])), detail="shell" if runs else ""))
    return found, False


SPECIAL = {
    "rsync": _rsync,
    "scp": _scp,
    **dict.fromkeys(("nc", "ncat", "netcat"), _netcat),
    "socat": _socat,
}
