"""When one subagent's task is the same as another's: exact, once what does not change a task is put aside.

White space, case, the punctuation around words and the spelling of paths (`./a//b` is `a/b`) are put aside; words,
their order, and signs inside them are not. A short task ("go on") means something only where it is said, so it is
never the same as another one.
"""

from __future__ import annotations

import hashlib
import posixpath
import unicodedata

from msgspec import structs

from reflexd.types import Decision, Finding, Mode, Spawn, Verdict

RULE = "repeat"
WORDS_MIN = 3
TASK_MAX = 64 * 1024
_BEFORE = "\"'`([{<“‘«"
_AFTER = "\"'`)]}>”’».,;:!?"
_BULLETS = frozenset("-–—•*")


def key(spawn: Spawn, cwd: str) -> bytes:
    """What two spawns of one session have in common if they are of the same task; empty where that is in doubt."""
    words = normal(spawn.task).split(" ") if len(spawn.task) <= TASK_MAX else []
    if len(words) < WORDS_MIN:
        return b""
    whole = "\0".join((cwd, spawn.who, *words))
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).digest()


def normal(task: str) -> str:
    """The words of a task, one blank between them."""
    return " ".join(word for word in map(_word, task.split()) if word)


def held(verdict: Verdict, why: str, mode: Mode) -> Verdict:
    """The verdict on a spawn that repeats another one, as `why` says (empty: it does not). Outside of enforce it is
    only noted; what is stopped anyway stays as it is."""
    if not why or mode == "off" or verdict.decision.strictness > 0:
        return verdict
    findings = (Finding(RULE, Decision.DENY, why), *verdict.findings)
    if mode != "enforce":
        return structs.replace(verdict, findings=(*verdict.findings, findings[0]))
    return structs.replace(verdict, decision=Decision.DENY, reason=why, decided_by=RULE, rule=RULE, findings=findings)


def _word(word: str) -> str:
    if word in _BULLETS:
        return ""
    bare = word.lstrip(_BEFORE).rstrip(_AFTER)
    if not any(c.isalnum() for c in bare):
        return word  # `..` or `==` would be nothing without its signs
    if "/" in bare and "://" not in bare:
        bare = posixpath.normpath(bare)
    return unicodedata.normalize("NFC", bare).casefold()
