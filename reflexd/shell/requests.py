"""curl, wget, httpie: the files a request reads and writes here, what leaves this machine, what is asked for there."""

from __future__ import annotations

import re

from reflexd.shell import web
from reflexd.shell.calls import Call
from reflexd.shell.fields import UNKNOWN, UNSET, shown
from reflexd.shell.operands import effect
from reflexd.shell.options import Words, names, split
from reflexd.shell.places import Ground
from reflexd.shell.realms import ordinary
from reflexd.shell.web import ENGINE_SOCKET
from reflexd.types import Effect

_CURL_VALUED = names(
    "-A -b -B -c -C -d -D -e -E -F -H -K -m -o -P -Q -r -t -T -u -U -w -x -X -y -Y -z --data --data-binary --data-raw"
    " --data-urlencode --data-ascii --json --form --form-string --output --output-dir --upload-file --config --header"
    " --user --url --request --user-agent --cookie --cookie-jar --cacert --cert --key --proxy --max-time --url-query"
    " --connect-timeout --retry --retry-delay --write-out --unix-socket --abstract-unix-socket --dump-header --referer"
    " --resolve --range --netrc-file --trace --trace-ascii --stderr --interface --limit-rate --oauth2-bearer"
    " --aws-sigv4 --proxy-user --proxy-header --connect-to --doh-url --max-filesize"
    " --retry-max-time --request-target --variable"
)
_DATA = ("-d", "--data", "--data-binary", "--data-urlencode", "--data-ascii", "--data-raw", "--json")
_FORMS = ("-F", "--form")
_CURL_READS = ("-K", "--config", "--netrc-file", "-E", "--cert", "--key")
_CURL_WRITES = ("-o", "--output", "-c", "--cookie-jar", "-D", "--dump-header", "--trace", "--trace-ascii", "--stderr")
URL_MAX = 2048
_SIGNS = ("-u", "--user", "--oauth2-bearer", "--aws-sigv4", "-n", "--netrc", "-E", "--cert", "-b", "--cookie")
_KEYED = re.compile(r"authori[sz]ation|token|api[-_]?key|secret|cookie|password|-key\b", re.IGNORECASE)
_OVERRIDE = re.compile(r"x-http-method(?:-override)?\s*:\s*(\w+)", re.IGNORECASE)
_IN_URL = re.compile(r"://[^/@\s]+:[^/@\s]*@|[?&](?:access_token|api_?key|token|key|auth)=", re.IGNORECASE)


def _curl(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    """Each of the requests that --next takes apart."""
    found: dict[Effect, None] = {}
    request: list[str] = []
    for word in (*call.argv[1:], "--next"):
        if word in ("--next", "-:"):
            found.update(dict.fromkeys(_one(call, split(request, _CURL_VALUED), ground)))
            request = []
        else:
            request.append(word)
    return list(found), False


def _one(call: Call, words: Words, ground: Ground) -> list[Effect]:
    urls = (*words.operands, *words.all("--url"))
    data = words.all(*_DATA)
    uploads = words.all("-T", "--upload-file")
    forms = tuple(file for value in words.all(*_FORMS) if (file := _form_file(value)))
    sent = (*(value[value.find("@") + 1 :] for value in data if value.startswith("@") or _named(value)), *forms)
    local = [("write", word) for word in words.all(*_CURL_WRITES)]
    if words.has("-O", "--remote-name", "--remote-name-all"):
        local.extend(("write", _kept(url, words.value("--output-dir"))) for url in urls)
    local.extend(("read", word) for word in (*words.all(*_CURL_READS), *sent, *uploads))
    local.extend(("read", value[1:]) for value in words.all("-H", "--header") if value.startswith("@"))
    local.extend(("read", value) for value in words.all("-b", "--cookie") if "=" not in value)
    for url in urls:
        if url.startswith("file://"):
            local.append(("read", url[7:] if url[7:8] == "/" else "/" + url[7:].partition("/")[2]))
    found = [made for role, word in local if (made := effect(role, word, call, ground, detail=call.name))]
    method = _last(words, "-X", "--request") or _implied(words, bool(uploads))
    for socket in words.all("--unix-socket"):
        path, places = ground.locate(socket, call.cwd)
        found.append(Effect("connect", path, places, detail=call.name))
        if ENGINE_SOCKET.search(path) and method not in web.SAFE:
            # Who may make a container may do anything on this machine.
            found.append(Effect("control", f"{call.name} {method} {path}", ("system",), detail=call.name))
    signed = words.has(*_SIGNS)
    if words.value("--unix-socket", "--abstract-unix-socket") is None:
        headers = words.all("-H", "--header")
        for url in urls:
            found.extend(
                _asked(
                    call, url, method, _body(call, url, (*data, *words.all(*_FORMS)), ground), headers, signed, ground
                )
            )
            found.extend(_sent(call, url, sent, (*uploads, *forms), ground))
            found.extend(_elsewhere(call, words, url))
            if UNKNOWN in url:  # an address can carry what other programs print
                found.append(Effect("connect", shown(url), web.lies(url, ground), detail=call.name))
            if "-" in (*sent, *uploads) and not (signed or any(map(_KEYED.search, headers))):
                found.extend(_piped(call, url, ground))
    if words.has("-K", "--config"):
        found.append(
            Effect("change", f"{call.name} with a file of options", ("elsewhere", "unknown"), detail=call.name)
        )
    return found


def _kept(url: str, directory: str | None) -> str:
    """The file that a download is kept in where none is named: as the URL calls it."""
    name = re.split(r"[?#]", url.partition("://")[2] or url, maxsplit=1)[0].rpartition("/")[2] or "index.html"
    return f"{directory}/{name}" if directory else name


def _elsewhere(call: Call, words: Words, url: str) -> list[Effect]:
    """A request that goes to another host than its URL names."""
    led = web.is_local(url) and words.has("--connect-to", "--resolve", "-x", "--proxy", "--preproxy")
    if not led or not words.has("-X", "--request", *_DATA, *_FORMS):
        return []
    return [Effect("change", f"{call.name} {shown(url)}", ("elsewhere", "unknown"), detail=call.name)]


def _piped(call: Call, url: str, ground: Ground) -> list[Effect]:
    """What another program prints goes to a host that asks for no key."""
    where = web.lies(url, ground)
    if "service" in where or call.fed in ("", "text") or call.stdin is not None or ordinary(web.host(url)):
        return []
    return [Effect("send", f"standard input to {web.host(url)}", (*where, "unknown"), detail=call.name)]


def _implied(words: Words, uploads: bool) -> str:
    """The method where none is named."""
    if uploads:
        return "PUT"
    if words.has("-I", "--head", "-G", "--get"):
        return "GET"
    return "POST" if words.has(*_DATA, *_FORMS, "--form-string") else "GET"


def _body(call: Call, url: str, data: tuple[str, ...], ground: Ground) -> str:
    """The text that goes along; what a file holds counts where the text says what is to be done."""
    texts = list(data)
    if "graphql" in url.lower():
        for value in data:
            file = value[value.find("@") + 1 :] if value.startswith("@") or _named(value) else ""
            if file and file != "-":
                path, _ = ground.locate(file, call.cwd)
                sighting = ground.want("file", path) if path.startswith("/") and "…" not in path else None
                texts.append(UNKNOWN if sighting is None or sighting.problem else sighting.text)
    return "\n".join(texts)


def _asked(
    call: Call, url: str, method: str, body: str, headers: tuple[str, ...], signed: bool, ground: Ground
) -> list[Effect]:
    override = next((found[1] for header in headers if (found := _OVERRIDE.search(header))), "")
    keyed = signed or any(map(_KEYED.search, headers)) or _IN_URL.search(url[:URL_MAX]) is not None
    request = web.Request(url, _method(override or method), f"{body}\n{call.stdin or ''}", keyed)
    return web.effects(request, call.name, ground)


def _method(spelled: str) -> str:
    """One that is not known may be any."""
    return "DELETE" if UNKNOWN in spelled or UNSET in spelled else shown(spelled).upper()


def _sent(call: Call, url: str, files: tuple[str, ...], uploads: tuple[str, ...], ground: Ground) -> list[Effect]:
    """Files that leave this machine: a body is how one speaks to a service, an upload hands a file over."""
    where = web.lies(url, ground)
    if "service" in where:
        return []
    found: dict[Effect, None] = {}
    for file in dict.fromkeys((*files, *uploads)):
        if file in ("-", "."):
            continue
        path, places = ground.locate(file, call.cwd)
        told = where if file not in uploads or ordinary(web.host(url)) else (*where, "unknown")
        found[Effect("send", path, tuple(dict.fromkeys((*places, *told))), detail=web.host(url))] = None
    return list(found)


def _form_file(value: str) -> str:
    """The file of `name=@file;type=x`, empty where the field is text."""
    _, marked, rest = value.partition("=")
    return rest[1:].partition(";")[0] if marked and rest[:1] in ("@", "<") else ""


def _named(value: str) -> bool:
    return re.match(r"[\w.-]+@", value) is not None and "=" not in value


def _last(words: Words, *options: str) -> str:
    """The last one given holds."""
    given = words.all(*options)
    return given[-1] if given else ""


_WGET_VALUED = names(
    "-O -o -a -i -P -U -t -T -w -Q -D -R -A -e --output-document --output-file --input-file --post-file --body-file"
    " --directory-prefix --header --user --password --post-data --body-data --method --user-agent --tries --timeout"
    " --load-cookies --save-cookies --private-key --certificate --http-user --http-password --execute --append-output"
)


def _wget(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    words = split(call.argv[1:], _WGET_VALUED)
    bodies = words.all("--post-file", "--body-file")
    named = [
        ("write", word) for word in words.all("-O", "--output-document", "-o", "--output-file", "-a", "--save-cookies")
    ]
    named.extend(("touch", word) for word in words.all("-P", "--directory-prefix"))
    if not words.has("-O", "--output-document", "--spider"):
        named.extend(("write", _kept(url, words.value("-P", "--directory-prefix"))) for url in words.operands)
    named.extend(("read", word) for word in (*words.all("-i", "--input-file", "--private-key"), *bodies))
    found = [made for role, word in named if (made := effect(role, word, call, ground, detail="wget"))]
    data = words.all("--post-data", "--body-data")
    method = _last(words, "--method") or ("POST" if bodies or data or words.has("--post-data") else "GET")
    signed = words.has("--user", "--password", "--http-user", "--http-password", "--load-cookies", "--certificate")
    for url in words.operands:
        found.extend(_asked(call, url, method, "\n".join(data), words.all("--header"), signed, ground))
        found.extend(_sent(call, url, bodies, bodies, ground))
    return found, False


_HTTPIE_VALUED = names(
    "-a --auth -A --auth-type -o --output -s --style -p --print -P --pretty --session --session-read-only --proxy"
    " --verify --cert --cert-key --timeout --max-redirects --boundary --raw --format-options"
)
_METHODS = web.SAFE | {"POST", "PUT", "PATCH", "DELETE"}
_ITEM = re.compile(r"(?P<name>[^:=@\s]*)(?P<sign>:=@|=@|:=|==|=|:|@)(?P<value>.*)\Z", re.DOTALL)


def _httpie(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    """`http [METHOD] URL [ITEM...]`; with data it is POST."""
    words = split(call.argv[1:], _HTTPIE_VALUED)
    operands = list(words.operands)
    if (words.has("--offline") and not words.has("--no-offline")) or not operands:
        return [], False
    at = next((at for at, word in enumerate(operands) if re.search(r"[.:/]", word)), len(operands) - 1)
    method = next((word for word in operands[:at] if word.upper() in _METHODS), "")
    url, items = operands[at], [item for word in operands[at + 1 :] if (item := _ITEM.match(word))]
    outputs = words.all("-o", "--output")
    found = [made for word in outputs if (made := effect("write", word, call, ground, detail="http"))]
    headers = tuple(item[0] for item in items if item["sign"] == ":")
    data = [item for item in items if item["sign"] in ("=", ":=", "=@", ":=@", "@")]
    files = tuple(item["value"].partition(";")[0] for item in data if item["sign"].endswith("@"))
    uploads = tuple(item["value"].partition(";")[0] for item in data if item["sign"] == "@")
    found.extend(made for file in files if (made := effect("read", file, call, ground, detail="http")))
    raw = words.value("--raw") or ""
    method = method or ("POST" if data or raw or call.fed else "GET")
    body = "\n".join((raw, *(item[0] for item in data)))
    found.extend(_asked(call, url, method, body, headers, words.has("-a", "--auth", "--session", "--cert"), ground))
    found.extend(_sent(call, url, files, uploads, ground))
    return found, False


def prints_environment(call: Call) -> bool:
    """Whether a call prints every variable there is."""
    words = call.argv[1:]
    options = [word for word in words if word.startswith("-")]
    match call.name:
        case "env" | "printenv" | "set":
            return len(options) == len(words) and set(options) <= {"-0", "--null"}
        case "export" | "declare" | "typeset":
            return len(options) == len(words) and not {"-f", "-F", "-g", "-a", "-A"} & set(options)
        case _:
            return False


def speaks(effect: Effect) -> bool:
    """Whether an effect hands something to another host."""
    return "elsewhere" in effect.places and (
        effect.kind == "send" or (effect.kind in ("change", "connect") and effect.detail in SPECIAL)
    )


SPECIAL = {
    "curl": _curl,
    "wget": _wget,
    **dict.fromkeys(("http", "https", "xh", "xhs"), _httpie),
}
