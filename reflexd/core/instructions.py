"""Instructions for some prompts: a file's bytes -> Instruction, which fit a prompt, and the text that is added.

A file is Markdown behind a head of TOML between two lines `+++`. The head says when it is added: `paths` (globs for
paths that the prompt names, or for the directory it is given in), `keywords` (whole words, in any case), `question`
(what a judge is asked about the prompt). Any one that fits is enough. A file is added whole or not at all.
"""

from __future__ import annotations

import fnmatch
import functools
import os.path
import re
import tomllib
from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct

from reflexd.errors import PolicyError
from reflexd.types import NoAnswer, Noul, NoulAnswer, Request, Response

FENCE = "+++"
ADDED_MAX = 8000  # bytes of UTF-8; Claude Code cuts what a hook adds at 10,000 characters
QUESTION_MAX = 500
LIST_MAX = 64
PROMPT_MAX = 4000
NAMED_MAX = 256
YES = 0.5
_YES = "The prompt asks for this, in whole or in part."
_NO = "The prompt asks for something else, or mentions it only in passing."
_WORD_ENDS = "\"'`()[]{}<>,;:!?“”‘’«»"


class Head(Struct, frozen=True, forbid_unknown_fields=True):
    paths: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    question: str = ""


class Instruction(Struct, frozen=True):
    """`name`: of the file; `source`: where it lies, as a reader of the text is told."""

    name: str
    source: str
    head: Head
    text: str


class Added(Struct, frozen=True):
    """`text` is empty where nothing fits; `left_out`: the names of those for which there was no room."""

    text: str
    names: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def parse(path: str, data: bytes, source: str) -> Instruction:
    """Raises PolicyError naming the file and the line."""
    try:
        whole = data.decode().replace("\r\n", "\n").removeprefix("\ufeff")
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        raise PolicyError(f"{path}: line {line}: not UTF-8") from e
    lines = whole.split("\n")
    if lines[0].rstrip() != FENCE:
        raise PolicyError(f"{path}: line 1: it does not begin with a line {FENCE}", "see docs/envelopes.md")
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == FENCE), 0)
    if not end:
        raise PolicyError(f"{path}: line 1: no second line {FENCE} ends its head")
    try:
        # An empty line in the fence's place: then a fault's line is the file's.
        head = msgspec.convert(tomllib.loads("\n".join(["", *lines[1:end]])), Head)
    except (tomllib.TOMLDecodeError, RecursionError) as e:
        why = str(e).replace("(at end of document)", f"(at line {end}, where the head ends)")
        raise PolicyError(f"{path}: {why or 'line 1: nested too deeply'}") from e
    except msgspec.ValidationError as e:
        raise PolicyError(f"{path}: line {_line(lines[:end], str(e))}: {e}") from e
    text = "\n".join(lines[end + 1 :]).strip()
    for key, why in _faults(head):
        raise PolicyError(f"{path}: line {_line(lines[:end], f'`$.{key}`')}: {why}")
    if not text:
        raise PolicyError(f"{path}: line {end + 1}: nothing follows its head")
    if (size := len(_labelled(os.path.basename(path), source, text).encode())) > ADDED_MAX:
        raise PolicyError(f"{path}: line {end + 1}: {size} bytes would be added, and {ADDED_MAX} are the most")
    return Instruction(os.path.basename(path), source, head, text)


def fits(instruction: Instruction, prompt: str, cwd: str, home: str) -> bool:
    """Whether the paths or keywords of its head fit; a question is not asked here."""
    if any(_says(prompt, word) for word in instruction.head.keywords):
        return True
    globs = instruction.head.paths
    return bool(globs) and any(_matches(glob, path, cwd, home) for path in named(prompt, cwd, home) for glob in globs)


def named(prompt: str, cwd: str, home: str) -> tuple[str, ...]:
    """The directory, and the words of a prompt that may be paths, as whole paths."""
    words = dict.fromkeys(word.strip(_WORD_ENDS).lstrip("@").rstrip(".") for word in prompt.split())
    paths = [word for word in words if word and len(word) < 1024 and ("/" in word or "." in word) and "://" not in word]
    return (cwd, *dict.fromkeys(_whole(path, cwd, home) for path in paths[:NAMED_MAX]))


def request(asked: Sequence[Instruction], prompt: str, cwd: str) -> Request:
    """One request with a question for each; `prompt` is redacted. Their answers come back in `chosen`."""
    state = (
        f"## The prompt that a coding agent was given\n{prompt[:PROMPT_MAX]}\n\n(in {cwd or 'an unknown directory'})"
    )
    questions = tuple((f"i{n}", Noul(each.head.question.strip(), _YES, _NO)) for n, each in enumerate(asked))
    return Request(state, questions)


def chosen(asked: Sequence[Instruction], answer: Response | NoAnswer) -> tuple[Instruction, ...]:
    """Those whose question was answered with yes; without an answer none."""
    if isinstance(answer, NoAnswer):
        return ()
    answers = dict(answer.answers)
    said = [answers.get(f"i{n}") for n in range(len(asked))]
    return tuple(each for each, it in zip(asked, said, strict=True) if isinstance(it, NoulAnswer) and it.noul >= YES)


def added(instructions: Iterable[Instruction]) -> Added:
    """What is put before the agent's model: each whole, with its source, as long as there is room."""
    parts, names, left_out, room = [], [], [], ADDED_MAX
    for each in instructions:
        part = _labelled(each.name, each.source, each.text)
        if (size := len(part.encode("utf-8", "surrogatepass"))) <= room:
            parts.append(part)
            names.append(each.name)
            room -= size
        else:
            left_out.append(each.name)
    if left_out and parts:
        parts.append(f"(reflex left out, for want of room: {', '.join(left_out)[:400]})")
    return Added("\n\n".join(parts), tuple(names), tuple(left_out))


def _labelled(name: str, source: str, text: str) -> str:
    return f"[Instructions for prompts like this one, added by reflex from {source}/{name}]\n{text}"


def _faults(head: Head) -> Iterable[tuple[str, str]]:
    if head == Head():
        yield "", "its head says none of paths, keywords, question"
    for key, values in (("paths", head.paths), ("keywords", head.keywords)):
        if len(values) > LIST_MAX or any(not value.strip() or len(value) > 200 for value in values):
            yield key, f"{key} are up to {LIST_MAX}, each of 1 to 200 characters"
    if len(head.question) > QUESTION_MAX or "\n" in head.question.strip():
        yield "question", f"a question is one line of at most {QUESTION_MAX} characters"


def _line(lines: Sequence[str], message: str) -> int:
    """The line of the key that a message names; 1 where it names none."""
    found = re.search(r"unknown field `([^`]*)`", message) or re.search(r"`\$\.([A-Za-z_]+)", message)
    if found:
        for number, line in enumerate(lines, 1):
            if re.match(rf"\s*\[?\s*[\"']?{re.escape(found[1])}[\"']?\s*[=.\]]", line):
                return number
    return 1


def _says(prompt: str, keyword: str) -> bool:
    wanted = r"\s+".join(re.escape(word) for word in keyword.casefold().split())
    return re.search(rf"(?<!\w){wanted}(?!\w)", prompt.casefold()) is not None


def _whole(path: str, cwd: str, home: str) -> str:
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return os.path.normpath(os.path.join(cwd, path))


def _matches(glob: str, path: str, cwd: str, home: str) -> bool:
    """`**` stands for any directories; a glob without a slash fits a name at any depth below the directory."""
    if "/" not in glob:
        glob = f"**/{glob}"
    pattern = glob if glob.startswith(("/", "~/")) else os.path.join(cwd, glob)
    pattern = home + pattern[1:] if pattern.startswith("~/") else pattern
    return _parts(tuple(path.split("/")), tuple(part for part in pattern.split("/") if part != "."))


def _parts(path: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    @functools.cache
    def fit(p: int, q: int) -> bool:
        if q == len(pattern):
            return p == len(path)
        if pattern[q] == "**":
            return fit(p, q + 1) or (p < len(path) and fit(p + 1, q))
        return p < len(path) and fnmatch.fnmatchcase(path[p], pattern[q]) and fit(p + 1, q + 1)

    return len(path) + len(pattern) < 400 and fit(0, 0)
