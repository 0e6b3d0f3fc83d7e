"""What a sed script runs: the e command, and the e of s///e."""

from __future__ import annotations

import re

from reflexd.shell.calls import Call, Local
from reflexd.shell.carriers import ITEMS_MAX, Unwrapped
from reflexd.shell.fields import known
from reflexd.shell.options import names, split

_STARTS = r"(?:\A|[;{}\n]|\d|\$|/)[ \t]*"
_RUNS = re.compile(_STARTS + r"e[ \t]+([^\n]+)")
_RUNS_INPUT = re.compile(_STARTS + r"e[ \t]*(?=\Z|[;}\n])")
_REPLACED = re.compile(r"s(\W)(?:\\.|(?!\1)[^\\])*\1((?:\\.|(?!\1)[^\\])*)\1[gpiImM0-9]*e", re.S)
_WRITES = re.compile(r"(?:[;{}\n/\d$]|\A)[ \t]*[gpiImMe0-9]*w[ \t]+([^\n;}]+)")
SCRIPT_MAX = 2000


def scripts(call: Call) -> tuple[str, ...]:
    words = split(call.argv[1:], names("-e --expression -f --file -l -i -E"))
    given = words.all("-e", "--expression")
    return given or (() if words.has("-f", "--file") else words.operands[:1])


def written(call: Call) -> list[str]:
    """The files that the script itself writes."""
    return [found.strip() for text in scripts(call) for found in _WRITES.findall(text[:SCRIPT_MAX])]


def unwrap(call: Call) -> Unwrapped | None:
    words = split(call.argv[1:], names("-e --expression -f --file -l -i -E"))
    files = words.all("-f", "--file")
    run = _read(scripts(call))
    if run is None:
        return Unwrapped(files=files, kind="sed") if files else None
    code, input_too = run
    if input_too and call.stdin is not None and known(call.stdin):
        code = (*code, call.stdin)
    return Unwrapped(code=code[:ITEMS_MAX], files=files, kind="sed", opaque=_INPUT if input_too else ())


def read(text: str, file: Local) -> Unwrapped:
    """A script in a file."""
    code, input_too = _read((text,)) or ((), False)
    return Unwrapped(code=code[:ITEMS_MAX], opaque=_INPUT if input_too else ())


_INPUT = ("sed runs lines that it has read",)


def _read(texts: tuple[str, ...]) -> tuple[tuple[str, ...], bool] | None:
    """The code that stands in the scripts, and whether they run their input as well."""
    cut = [text[:SCRIPT_MAX] for text in texts]
    code = [found[1] for text in cut for found in _RUNS.finditer(text)]
    replaced = [re.sub(r"\\(.)", r"\1", found[2]) for text in cut for found in _REPLACED.finditer(text)]
    code.extend(text for text in replaced if text)
    bare = any(_RUNS_INPUT.search(text) for text in cut) or any(not text or "&" in text for text in replaced)
    return (tuple(code), bare) if code or bare else None
