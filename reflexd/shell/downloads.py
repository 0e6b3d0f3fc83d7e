"""The files that a download leaves: under the name it is told, or under that of its address."""

from __future__ import annotations

from reflexd.shell.calls import Call
from reflexd.shell.options import names, split

_VALUED = {
    "curl": names(
        "-o --output --output-dir -d --data --data-raw --data-binary --data-urlencode --json -H --header -X --request"
        " -u --user -A --user-agent -e --referer -b --cookie -c --cookie-jar -F --form -T --upload-file -w --write-out"
        " -m --max-time --connect-timeout --retry --retry-delay --retry-max-time -x --proxy -E --cert --key --cacert -r"
        " --range --url -K --config -D --dump-header --resolve --interface --limit-rate -Y -y -C -z -t -P -Q"
    ),
    "wget": names(
        "-O --output-document -P --directory-prefix -o --output-file -a --append-output --header -U --user-agent -t"
        " --tries -T --timeout -e --execute -i --input-file --post-data --post-file --user --password -A -R -D -l -Q -B"
    ),
    "aria2c": names("-o --out -d --dir -x -s -j -k -i --header"),
}
_FILE = {"wget": ("-O", "--output-document"), "aria2c": ("-o", "--out")}
_DIRECTORY = {
    "curl": ("--output-dir",),
    "wget": ("-P", "--directory-prefix"),
    "aria2c": ("-d", "--dir"),
}
_BY_ADDRESS = names("-O --remote-name --remote-name-all --download")


def fetched(call: Call) -> list[str]:
    given = split(call.argv[1:], _VALUED.get(call.name, names("-o --output -A -a --session --timeout")))
    paths = [path for path in given.all(*_FILE.get(call.name, ("-o", "--output"))) if path != "-"]
    named = call.name in ("wget", "aria2c") or not _BY_ADDRESS.isdisjoint(given.flags)
    if named and not paths:
        urls = (word for word in (*given.operands, *given.all("--url")) if "/" in word)
        names_of = [url.rpartition("/")[2] for url in urls]
        paths = [name if call.name == "wget" else name.partition("?")[0] for name in names_of]
        paths = [path or "index.html" for path in paths]
    below = given.value(*_DIRECTORY[call.name]) if call.name in _DIRECTORY else None
    return [f"{below}/{path}" if below and not path.startswith("/") else path for path in paths]
