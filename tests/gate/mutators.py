"""Ways to write a command differently without changing what it does, and to what each can be applied.

Those of NAME and WORDS need a plain command to begin with; those of CODE take any code, so that they can be
put on top of anything else. ALIKE is what no shell would run as it stands, but a careless reader might.
"""

from __future__ import annotations

import re

from tests.gate.mutators_alike import ALIKE
from tests.gate.mutators_code import EVALUATED, FED, FILES, RUN, SHELLS, SUBSTITUTED
from tests.gate.mutators_decode import DECODED
from tests.gate.mutators_languages import OTHERS, PERL, PYTHON
from tests.gate.mutators_programs import BUILDERS, EDITORS, ELSEWHERE, FINDERS, GIT, LATER, PREFIXES
from tests.gate.mutators_text import Mutator
from tests.gate.mutators_words import NAME, WORDS

_OF_CODE = (
    *(EVALUATED, SHELLS, FED, SUBSTITUTED, RUN, FILES, DECODED),
    *(PREFIXES, FINDERS, BUILDERS, EDITORS, GIT, LATER, ELSEWHERE, PYTHON, PERL, OTHERS),
)
FAMILIES = (NAME, WORDS, ALIKE, *_OF_CODE)
CODE: dict[str, Mutator] = {name: mutator for family in _OF_CODE for name, mutator in family.items()}
EVERY: dict[str, Mutator] = {name: mutator for family in FAMILIES for name, mutator in family.items()}

PUT_OFF = frozenset({"git-hook", "crontab-file"})
"""What leaves the code where something runs it later: that asks, whatever the code is."""

_NAMED = re.compile(r"[a-z][\w.+-]*(?: |\Z)")
_BUILTINS = re.compile(
    r"(?:cd|echo|export|exec|bash|:) "
)  # not found at a path, or not what they would be by themselves
_OPERATORS = frozenset("'\"`$&|;<>(){}\\\n#")


def applies(name: str, command: str) -> bool:
    """Whether the mutator can be the first one that `command` goes through."""
    if name in CODE:
        return True
    if not _NAMED.match(command) or _BUILTINS.match(command):
        return False
    return name not in WORDS or _OPERATORS.isdisjoint(command)


def mutated(command: str, *names: str) -> str:
    """The command as the mutators leave it, one after the other; as it was where the first cannot be applied."""
    for place, name in enumerate(names):
        if place or applies(name, command):
            command = EVERY[name](command)
    return command
