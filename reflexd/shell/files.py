"""Programs whose words say more than "these are files": find, dd, tar, rsync, curl, wget."""

from __future__ import annotations

import re
from itertools import pairwise

from reflexd.shell.arguments import parse, roles
from reflexd.shell.calls import Call
from reflexd.shell.carriers import FIND_TESTS, find_pattern, find_starts
from reflexd.shell.fields import UNKNOWN, shown
from reflexd.shell.operands import effect, unknown
from reflexd.shell.options import names, split
from reflexd.shell.places import Ground
from reflexd.shell.programs import find_row
from reflexd.types import Effect

_FIND_PLAIN = FIND_TESTS | names(
    "-exec -execdir "  # what these run is judged on its own
    "-maxdepth -mindepth -type -xtype -print -print0 -printf -ls -prune -quit -not -o -or -a -and -depth -mount -xdev"
    " -readable -writable -executable -true -false -perm -regextype -daystart -follow -noleaf -nouser -nogroup"
    " -newerct -neweraa -neweram -H -L -P"
)
_FIND_WRITES = frozenset({"-fprint", "-fprint0", "-fprintf", "-fls"})
_WHOLE = {"root", "home", "system", "device"}


def _find(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    args = call.argv[1:]
    starts = find_starts(args)
    found: list[Effect] = []
    options = [word for word in _own_words(args) if word.startswith("-") and len(word) > 1 and not word[1:].isdigit()]
    if "-delete" in options:
        filtered = bool(FIND_TESTS & set(options))
        shallow = any(a == "-maxdepth" and b in ("0", "1") for a, b in pairwise(args))
        for start in starts:
            path, places = ground.locate(start, call.cwd, deep=True)
            if filtered and _WHOLE.isdisjoint(places):
                named = find_pattern(args)
                below = f"{UNKNOWN}/{named}" if named else UNKNOWN
                path, places = ground.locate(f"{start.rstrip('/')}/{below}", call.cwd)
            found.append(Effect("delete", path, places, not (filtered and shallow), True, "find -delete"))
    for flag, word in pairwise(args):
        if flag in _FIND_WRITES:
            made = effect("write", word, call, ground, detail=f"find {flag}")
            if made:
                found.append(made)
    return found, not found and set(options) <= _FIND_PLAIN


def _own_words(args: tuple[str, ...]) -> list[str]:
    """A find's words without those of the commands it runs."""
    words: list[str] = []
    inner = False
    for word in args:
        inner = inner and word not in (";", "+")
        if not inner:
            words.append(word)
        inner = inner or word in ("-exec", "-execdir")
    return words


def _dd(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    found = []
    for word in call.argv[1:]:
        name, _, value = word.partition("=")
        role = {"of": "write", "if": "read"}.get(name.strip(), "none")
        made = effect(role, value, call, ground, detail="dd")
        if made:
            found.append(made)
    return found, False


def _tar(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    args = call.argv[1:]
    if args and not args[0].startswith("-"):  # the old spelling: tar xzf FILE
        args = ("-" + args[0], *args[1:])
    words = split(args, names("-f -C -T -X -b -g -I -K -N -V --file --directory --exclude --files-from"))
    found = []
    archive = words.all("-f", "--file")
    creates = words.has("-c", "-r", "-u", "-A", "--create", "--append", "--update")
    roles_of = [("write" if creates else "read", word) for word in archive]
    if creates:
        roles_of.extend(("read", word) for word in words.operands)
    elif words.has("-x", "--extract", "--get"):
        roles_of.extend(("touch", word) for word in words.all("-C", "--directory") or (".",))
    for role, word in roles_of:
        made = effect(role, word, call, ground, deep=role == "read" and creates, detail="tar")
        if made:
            found.append(made)
    return found, False


def _rsync(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    row = find_row("rsync")
    assert row is not None
    parsed = parse(call.argv[1:], row)
    found = []
    named = [(role, word) for role, word in roles(parsed, row) if not _remote(word)]
    if any(flag.startswith("--delete") for flag in parsed.flags):
        named.extend(("delete", word) for role, word in named[:] if role == "write" and word in parsed.operands[-1:])
    if "--remove-source-files" in parsed.flags:
        named.extend(("move", word) for role, word in named[:] if role == "read")
    for role, word in named:
        made = effect(role, word, call, ground, deep=role in ("delete", "read"), detail="rsync")
        if made:
            found.append(made)
    return found, False


def _remote(word: str) -> bool:
    host, colon, _ = word.partition(":")
    return bool(colon) and "/" not in host


_CURL_VALUED = names(
    "-A -b -B -c -C -d -D -e -E -F -h -H -K -m -o -P"
    " -Q -r -s -t -T -u -U -w -x -X -y -Y -z --data --data-binary --data-raw"
    " --data-urlencode --data-ascii --json --form --output"
    " --output-dir --upload-file --config --header --user --url --request"
    " --user-agent --cookie --cookie-jar --cacert --cert"
    " --key --proxy --max-time --connect-timeout --retry --retry-delay"
    " --write-out --unix-socket --abstract-unix-socket --dump-header --referer --resolve --range --netrc-file --trace"
    " --trace-ascii --stderr --interface --limit-rate"
) - {"-s", "-h"}
_CURL_READS = ("-T", "--upload-file", "-K", "--config", "--netrc-file", "-E", "--cert", "--key")
_CURL_SENDS = (
    "-d",
    "--data",
    "--data-binary",
    "--data-urlencode",
    "--data-ascii",
    "--json",
    "-F",
    "--form",
    "-H",
    "-b",
)
_CURL_WRITES = ("-o", "--output", "-c", "--cookie-jar", "-D", "--dump-header", "--trace", "--trace-ascii", "--stderr")


def _curl(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    words = split(call.argv[1:], _CURL_VALUED)
    named = [("write", word) for word in words.all(*_CURL_WRITES)]
    named.extend(("read", word) for word in words.all(*_CURL_READS))
    for value in words.all(*_CURL_SENDS):
        at = max(value.find("@"), value.find("=<") + 1)
        if value.startswith("@") or "=@" in value or "=<" in value:
            named.append(("read", value[at + 1 :].partition(";")[0]))
    for url in (*words.operands, *words.all("--url")):
        if url.startswith("file://"):
            named.append(("read", url[7:] if url[7:8] == "/" else "/" + url[7:].partition("/")[2]))
    found = [made for role, word in named if (made := effect(role, word, call, ground, detail=call.name))]
    for socket in words.all("--unix-socket"):
        path, places = ground.locate(socket, call.cwd)
        found.append(Effect("connect", path, places, detail=call.name))
    return found, False


def _wget(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    valued = names(
        "-O -o -a -i -P -U -t -T -w -Q -D -R -A -e --output-document --output-file --input-file --post-file --body-file"
        " --directory-prefix --header --user --password --post-data --body-data --method --user-agent --tries --timeout"
        " --load-cookies --save-cookies --private-key --certificate"
    )
    words = split(call.argv[1:], valued)
    named = [
        ("write", word) for word in words.all("-O", "--output-document", "-o", "--output-file", "-a", "--save-cookies")
    ]
    named.extend(("touch", word) for word in words.all("-P", "--directory-prefix"))
    named.extend(
        ("read", word) for word in words.all("-i", "--input-file", "--post-file", "--body-file", "--private-key")
    )
    return [made for role, word in named if (made := effect(role, word, call, ground, detail="wget"))], False


def _netcat(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    """A connection; one that is given a program hands that program to whoever is at the other end."""
    words = split(call.argv[1:], names("-e -c -p -s -w -i -q -x -X -T -I -O -g -G --exec --sh-exec --lua-exec"))
    shell = words.value("-e", "--exec", "--sh-exec", "--lua-exec") or (words.value("-c") or "").partition(" ")[0]
    found = unknown(call, ground)
    found.append(Effect("connect", " ".join(map(shown, words.operands)), detail="shell" if shell else ""))
    return found, False


def _socat(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    text = " ".join(call.argv[1:]).lower()
    runs = re.search(r"\b(?:exec|system|shell):", text) and re.search(r"\b(?:tcp|udp|ssl|openssl|sctp)\w*[:-]", text)
    found = unknown(call, ground)
    found.append(Effect("connect", shown(" ".join(call.argv[1:])), detail="shell" if runs else ""))
    return found, False


SPECIAL = {
    **dict.fromkeys(("nc", "ncat", "netcat"), _netcat),
    "socat": _socat,
    "find": _find,
    "gfind": _find,
    "dd": _dd,
    "gdd": _dd,
    "dcfldd": _dd,
    "tar": _tar,
    "gtar": _tar,
    "bsdtar": _tar,
    "rsync": _rsync,
    "curl": _curl,
    "wget": _wget,
}
