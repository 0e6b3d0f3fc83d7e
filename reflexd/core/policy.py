"""Rules as data: TOML bytes -> Policy, or a PolicyError that names the file and the line.

Three files have one form: the rules that come with reflex, a user's own beside the settings, and a
repository's. Each adds to what is there; none takes anything away. A repository's file is written by
whoever wrote the repository, so it is held to narrower bounds and vouches for nothing.
"""

from __future__ import annotations

import functools
import hashlib
import re
import string
import tomllib
from importlib import resources

import msgspec
from msgspec import Struct, structs

from reflexd.core import gates as judging
from reflexd.core import questions
from reflexd.core.gates import Gate
from reflexd.core.protected import Protected, fault_of
from reflexd.core.rules import SLOTS, Index, Rule, When, several
from reflexd.errors import PolicyError
from reflexd.types import Context, Facts, Finding, Pin

FORMAT = 1
RULES_MAX = 500
REPOSITORY_RULES_MAX = 50
PATTERNS_MAX = 64
PATTERN_MAX = 500  # characters of a repository's pattern or reason
_KEY_PATH = re.compile(r"`\$(?P<path>[^`]*)`")
_UNKNOWN_FIELD = re.compile(r"unknown field `(?P<name>[^`]*)`")


class Policy(Struct, frozen=True, dict=True):
    """What is in force. `version` is the number that the file gives itself and a digest of every byte of it.

    `pins` are the MCP servers that a person vouches for, `production` further names of what real users depend on,
    `protected` the files that repositories protect. `gates` rule on a judge's answers. `faults` says what is wrong
    with repositories' files.
    """

    version: str
    rules: tuple[Rule, ...]
    pins: tuple[Pin, ...] = ()
    production: tuple[str, ...] = ()
    protected: tuple[Protected, ...] = ()
    faults: tuple[str, ...] = ()
    gates: tuple[Gate, ...] = ()

    def findings(self, facts: Facts, context: Context) -> list[Finding]:
        """What every rule says, in no order that means anything."""
        protecting = (found for each in self.protected if (found := each.finding(facts)) is not None)
        return [*self.index.findings(facts, context), *protecting]

    @functools.cached_property
    def index(self) -> Index:
        return Index(self.rules)

    @functools.cached_property
    def general(self) -> frozenset[str]:
        """The rules that speak of no effect."""
        return frozenset(compiled.rule.id for compiled in self.index.general)


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    policy: int
    version: str
    rule: tuple[Rule, ...] = ()
    gate: tuple[Gate, ...] = ()
    mcp: tuple[Pin, ...] = ()
    production: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()


class Repository(Struct, frozen=True):
    """What one repository's own file adds to calls in it, or about it.

    `version`: as a policy's. `aliases`: directories reached through links, and what they really are.
    """

    root: str
    version: str = ""
    rules: tuple[Rule, ...] = ()
    gates: tuple[Gate, ...] = ()
    production: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    fault: str = ""
    aliases: tuple[tuple[str, str], ...] = ()


def load(data: bytes, name: str, base: Policy | None = None) -> Policy:
    """What `data` says on top of `base`. Raises PolicyError; never any other error."""
    text, read = _read(data, name)
    if read.protected:
        raise PolicyError(f"{name}: line {_line_of_key(text, 'protected')}: files are protected by a repository's file")
    if base:
        known = {rule.id for rule in base.rules} | {gate.id for gate in base.gates}
        loosening = [number for number, gate in enumerate(read.gate) if gate.decision == "allow"]
        if loosening:
            raise PolicyError(
                f"{name}: line {_line_of_table(text, 'gate', loosening[0])}: a gate added here only stops"
            )
    else:
        base, known = Policy("", ()), set()
    rules = (*base.rules, *read.rule)
    if len(rules) > RULES_MAX:
        raise PolicyError(f"{name}: more than {RULES_MAX} rules")
    _check(text, name, read, known)
    shown = f"{base.version}/{read.version}" if base.version else read.version
    digest = hashlib.sha256((f"{base.version}\n" if base.version else "").encode() + data).hexdigest()[:8]
    return Policy(
        f"{shown}+{digest}",
        rules,
        (*base.pins, *read.mcp),
        (*base.production, *read.production),
        gates=(*base.gates, *read.gate),
    )


def load_repository(data: bytes, name: str, root: str) -> Repository:
    """The file of the repository at `root`. Raises PolicyError; never any other error."""
    text, read = _read(data, name)
    if read.mcp:
        raise PolicyError(f"{name}: line {_line_of_table(text, 'mcp', 0)}: a repository vouches for no server")
    if len(read.rule) + len(read.gate) > REPOSITORY_RULES_MAX:
        raise PolicyError(f"{name}: more than {REPOSITORY_RULES_MAX} rules and gates")
    if any(gate.decision == "allow" for gate in read.gate):
        raise PolicyError(f"{name}: line {_line_of_table(text, 'gate', 0)}: a repository allows nothing")
    patterns = [*read.production, *read.protected]
    for rule in read.rule:
        patterns += [*several(rule.when.target), *several(rule.when.detail), rule.reason]
    if len(read.production) + len(read.protected) > PATTERNS_MAX:
        raise PolicyError(f"{name}: more than {PATTERNS_MAX} patterns")
    if any(len(pattern) > PATTERN_MAX for pattern in patterns):
        raise PolicyError(f"{name}: a pattern or reason is longer than {PATTERN_MAX} characters")
    _check(text, name, read, set())
    rules = tuple(structs.replace(rule, id=f"repository:{rule.id}") for rule in read.rule)
    own_gates = tuple(structs.replace(gate, id=f"repository:{gate.id}") for gate in read.gate)
    version = f"{read.version}+{hashlib.sha256(data).hexdigest()[:8]}"
    return Repository(root, version, rules, own_gates, read.production, read.protected)


def tightened(base: Policy, repositories: tuple[Repository, ...]) -> Policy:
    """`base` with what the repositories add."""
    if not repositories:
        return base
    return Policy(
        "/".join((base.version, *(each.version or "broken" for each in repositories))),
        (*base.rules, *(rule for each in repositories for rule in each.rules)),
        base.pins,
        (*base.production, *(name for each in repositories for name in each.production)),
        tuple(Protected(each.root, each.protected, each.aliases) for each in repositories if each.protected),
        tuple(each.fault for each in repositories if each.fault),
        (*base.gates, *(gate for each in repositories for gate in each.gates)),
    )


@functools.cache
def shipped() -> Policy:
    """The rules that come with reflex."""
    return load(resources.files("reflexd.config").joinpath("policy.toml").read_bytes(), "policy.toml")


def _read(data: bytes, name: str) -> tuple[str, _File]:
    try:
        text = data.decode()
        raw = tomllib.loads(text)
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        raise PolicyError(f"{name}: line {line}: not UTF-8") from e
    except (tomllib.TOMLDecodeError, RecursionError) as e:
        raise PolicyError(f"{name}: {e or 'nested too deeply'}") from e
    try:
        read = msgspec.convert(raw, _File)
    except msgspec.ValidationError as e:
        raise PolicyError(f"{name}: line {_line(text, str(e))}: {e}") from e
    if read.policy != FORMAT:
        raise PolicyError(f"{name}: line {_line_of_key(text, 'policy')}: format {read.policy}, this reads {FORMAT}")
    return text, read


def _check(text: str, name: str, read: _File, taken: set[str]) -> None:
    for number, rule in enumerate(read.rule):
        fault = _fault(rule, taken)
        if fault:
            raise PolicyError(f"{name}: line {_line_of_table(text, 'rule', number)}: rule {rule.id}: {fault}")
        taken.add(rule.id)
    for number, gate in enumerate(read.gate):
        fault = "the id is taken" if gate.id in taken else judging.fault(gate, questions.shipped())
        if fault:
            raise PolicyError(f"{name}: line {_line_of_table(text, 'gate', number)}: gate {gate.id}: {fault}")
        taken.add(gate.id)
    for number, pin in enumerate(read.mcp):
        if not pin.server or not pin.tools:
            line = _line_of_table(text, "mcp", number)
            raise PolicyError(f"{name}: line {line}: a pin names its server and the tools it may offer")
    for pattern in read.protected:
        if fault := fault_of(pattern):
            raise PolicyError(f"{name}: line {_line_of_key(text, 'protected')}: {pattern}: {fault}")


def _fault(rule: Rule, taken: set[str]) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9-]{1,60}", rule.id):
        return "an id is lower-case words joined by -"
    if rule.id in taken:
        return "the id is taken; a rule adds, it never replaces"
    if rule.when == When():
        return "it has no condition"
    if not rule.reason or "\n" in rule.reason:
        return "a reason is one line"
    try:
        slots = {name for _, name, spec, conversion in string.Formatter().parse(rule.reason) if name is not None}
        rule.reason.format(**dict.fromkeys(SLOTS, ""))
    except (ValueError, LookupError, AttributeError) as e:
        return f"its reason cannot be filled in: {e}"
    if slots - SLOTS:
        return f"its reason names {', '.join(sorted(slots - SLOTS))}; it may name {', '.join(sorted(SLOTS))}"
    return "" if rule.catches and rule.leaves else "it needs examples of what it catches and of what it leaves alone"


def _line(text: str, message: str) -> int:
    """The line that a validation error is about: the key it names, within the table it names."""
    where = _KEY_PATH.search(message)
    path = where["path"] if where else ""
    numbered = re.match(r"\.(rule|gate|mcp)\[(\d+)\]", path)
    unknown = _UNKNOWN_FIELD.search(message)
    keys = re.findall(r"\.([A-Za-z_]+)", path)
    key = unknown["name"] if unknown else (keys[-1] if keys else "")
    start = _line_of_table(text, numbered[1], int(numbered[2])) if numbered else 1
    return _line_of_key(text, key, start) or start


def _line_of_table(text: str, name: str, number: int) -> int:
    header = re.compile(rf"\s*\[\[\s*{name}\s*\]\]")
    headers = [i for i, line in enumerate(text.split("\n"), 1) if header.match(line)]
    return headers[number] if number < len(headers) else 1


def _line_of_key(text: str, key: str, start: int = 1) -> int:
    wanted = re.compile(rf"(^|[\s{{,\[.\"]){re.escape(key)}\"?\s*(=|\]|\.)") if key else None
    for i, line in enumerate(text.split("\n")[start - 1 :], start):
        if i > start and re.match(r"\s*\[\[", line):
            break
        if wanted and wanted.search(line):
            return i
    return 0
