"""Who may import whom, and the checker that reads it off the syntax trees.

Packages are named as below `reflexd`; `daemon.journal` is one module. A rule lists what a package may
import of ours (itself always), and whether it is pure: then no clock, file, process, network or async.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

SEAMS = ("types", "errors", "paths", "private", "wire", "control", "peer", "kept")
PURE = ("shell", "core", "guard", "adapters")
ENGINE_PURE = ("schema", "decisions", "prompt", "labels", "orders", "plan", "readout", "confidence", "calibration")
READERS = ("daemon.journal", "daemon.surroundings")
"""What the command line reads itself: the journal's rows, a call's surroundings for `check --local`, a judge's key."""


class Rule(NamedTuple):
    ours: tuple[str, ...]
    pure: bool = False


RULES: Mapping[str, Rule] = {
    "": Rule(()),
    "types": Rule(()),
    "errors": Rule(()),
    "kept": Rule(()),
    "peer": Rule(("errors",)),
    "private": Rule(("errors",)),
    "paths": Rule(("types", "errors")),
    "wire": Rule(("types", "errors")),
    "control": Rule(("types", "errors")),
    "settings": Rule((*SEAMS, "core", "judge.fixed", "judge.second.settings")),
    "client": Rule(SEAMS),
    "systemone": Rule(("types", "errors", "paths")),
    "shell": Rule(("types", "errors"), pure=True),
    "core": Rule(("types", "errors", "shell"), pure=True),
    "core.envelopes": Rule(("types", "errors", "kept"), pure=True),
    "guard": Rule(("types", "errors"), pure=True),
    "adapters": Rule(("types", "errors", "shims"), pure=True),
    "shims": Rule(("", "types", "errors")),
    "config": Rule(()),
    "judge": Rule(("", *SEAMS, "core", "guard", "systemone")),
    "sight": Rule(("", "types", "errors", "shell", "core", "guard")),
    **{f"engine.{name}": Rule(("types", "errors", "engine"), pure=True) for name in ENGINE_PURE},
    "engine": Rule(("", *SEAMS)),
    "engine.process": Rule(("", *SEAMS, "engine", "settings")),
    "engine.choose": Rule(("errors", "types", "engine")),
    "engine.tensor": Rule(("", *SEAMS, "engine")),
    "daemon": Rule(("", *SEAMS, *PURE, "sight", "settings", "judge", "engine.link")),
    "ctl": Rule(
        (
            "",
            *SEAMS,
            *PURE,
            "sight",
            "settings",
            "client",
            "setup",
            "judge.fixed",
            "judge.remote",
            "engine.models",
            "systemone",
            *READERS,
        )
    ),
    "setup": Rule(("", *SEAMS, "adapters", "shims", "client", "settings")),
    "setup.unhook": Rule(()),
    "setup.hosts": Rule(()),
}

PURE_FOREIGN = frozenset(
    {
        *(
            "__future__",
            "ast",
            "base64",
            "binascii",
            "bisect",
            "codecs",
            "collections",
            "copy",
            "dataclasses",
            "enum",
            "fnmatch",
        ),
        *(
            "functools",
            "hashlib",
            "heapq",
            "importlib",
            "ipaddress",
            "itertools",
            "json",
            "math",
            "msgspec",
            "operator",
            "os",
        ),
        *("pkgutil", "posixpath", "re", "ruamel", "shlex", "sqlglot", "string", "struct", "sys", "textwrap"),
        *(
            "threading",
            "tomlkit",
            "tomllib",
            "tree_sitter",
            "tree_sitter_bash",
            "typing",
            "unicodedata",
            "urllib",
            "warnings",
        ),
    }
)
"""Libraries that compute. `importlib` is for the package's own data, `threading` for locks and thread-locals."""

HEAVY = frozenset({"torch", "transformers", "tokenizers", "safetensors", "peft", "gguf", "accelerate"})

PURE_OS = frozenset({"path", "fsencode", "fsdecode", "sep", "pathsep"})
IMPURE_PATH = frozenset(
    {"exists", "isfile", "isdir", "islink", "lexists", "realpath", "getmtime", "getsize", "samefile"}
)
IMPURE_CALLS = frozenset({"open", "input", "print", "eval", "exec", "__import__", "breakpoint"})


def breaches(sources: Mapping[str, str]) -> Iterator[str]:
    """`sources` maps a module's name below reflexd (`core.decide`, a package's own file: `core`) to its text."""
    for module, source in sorted(sources.items()):
        tree = ast.parse(source)
        name, rule = rule_of(module)
        if rule is None:
            yield f"{module}: no rule says what it may import"
            continue
        for line, imported in imports(tree, module, sources):
            if imported.startswith("reflexd"):
                ours = imported.removeprefix("reflexd").removeprefix(".")
                if not within(ours, (name, *rule.ours)):
                    yield f"{module}:{line} imports {imported}"
            elif imported.partition(".")[0] in {"adapters", "shims", "config", "setup"}:
                yield f"{module}:{line} imports {imported} from the top level"
            elif imported.partition(".")[0] in HEAVY and not within(module, ("engine.tensor",)):
                yield f"{module}:{line} imports {imported}, which engine.tensor alone does"
            elif rule.pure and imported.partition(".")[0] not in PURE_FOREIGN:
                yield f"{module}:{line} is pure and imports {imported}"
        if rule.pure:
            yield from (f"{module}:{line} is pure and uses {what}" for line, what in impurities(tree))


def rule_of(module: str) -> tuple[str, Rule | None]:
    """The rule of the longest name that covers `module`."""
    name = module
    while name not in RULES and "." in name:
        name = name.rpartition(".")[0]
    return name, RULES.get(name)


def within(module: str, allowed: tuple[str, ...]) -> bool:
    return any(module == name or (name != "" and module.startswith(name + ".")) for name in allowed)


def imports(tree: ast.AST, module: str, known: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Every imported module, wherever the statement stands; `from reflexd import x` is module x where there is one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = absolute(node, module, known)
            for alias in node.names:
                full = f"{base}.{alias.name}" if base else alias.name
                below = full.removeprefix("reflexd.")
                yield node.lineno, full if full.startswith("reflexd.") and is_module(below, known) else base


def is_module(name: str, known: Mapping[str, str]) -> bool:
    return name in known or any(module.startswith(name + ".") for module in known) or name in RULES


def absolute(node: ast.ImportFrom, module: str, known: Mapping[str, str]) -> str:
    if not node.level:
        return node.module or ""
    package = module.split(".") if any(m.startswith(module + ".") for m in known) else module.split(".")[:-1]
    kept = package[: len(package) - node.level + 1]
    return ".".join(["reflexd", *kept, *([node.module] if node.module else [])])


def impurities(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in IMPURE_CALLS:
                yield node.lineno, f"{name}()"
            case ast.Attribute(value=ast.Name(id="os"), attr=attr) if attr not in PURE_OS:
                yield node.lineno, f"os.{attr}"
            case ast.Attribute(value=ast.Attribute(value=ast.Name(id="os"), attr="path"), attr=attr) if (
                attr in IMPURE_PATH
            ):
                yield node.lineno, f"os.path.{attr}"
            case ast.ImportFrom(module="os" | "os.path"):
                yield node.lineno, "names out of os, where they cannot be told apart"
            case ast.AsyncFunctionDef():
                yield node.lineno, "async"
            case ast.Import(names=names) if any(a.name in {"importlib", "urllib", "urllib.request"} for a in names):
                yield node.lineno, "importlib or urllib as a whole"
            case ast.ImportFrom(module="importlib" | "urllib", names=names) if any(
                a.name not in {"resources", "parse"} for a in names
            ):
                yield node.lineno, "importlib or urllib beyond resources and parse"
