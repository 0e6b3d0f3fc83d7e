"""The layering of the package, and proof that the checker sees a breach of it."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from .layers import breaches
from .tree import PACKAGE, modules


def test_no_module_imports_what_its_layer_may_not() -> None:
    assert list(breaches(modules())) == []


def test_the_whole_package_is_looked_at() -> None:
    seen = modules()
    assert {"types", "core.decide", "shell", "guard.redact", "adapters.claude", "daemon.app", "ctl.main"} <= set(seen)


PLANTED = [
    ("types", "from reflexd.errors import ReflexError", "imports reflexd.errors"),
    ("core.decide", "import reflexd.paths", "imports reflexd.paths"),
    ("core.decide", "from reflexd import paths", "imports reflexd.paths"),
    ("core.decide", "from reflexd.daemon.gate import Gate", "imports reflexd.daemon.gate"),
    ("core.decide", "from ..daemon import gate", "imports reflexd.daemon.gate"),
    ("core.decide", "def f() -> None:\n    from reflexd.guard import redact", "imports reflexd.guard"),
    ("core.decide", "import time", "is pure and imports time"),
    ("core.decide", "from datetime import datetime", "is pure and imports datetime"),
    ("core.decide", "import os\nos.stat('/')", "is pure and uses os.stat"),
    ("core.decide", "import os\nos.path.exists('/')", "is pure and uses os.path.exists"),
    ("core.decide", "from os import stat", "is pure and uses names out of os"),
    ("core.decide", "open('/etc/passwd')", "is pure and uses open()"),
    ("core.decide", "async def f() -> None: ...", "is pure and uses async"),
    ("core.decide", "import importlib", "is pure and uses importlib"),
    ("core.decide", "from urllib import request", "is pure and uses importlib or urllib"),
    ("shell.parse", "from reflexd.core import decide", "imports reflexd.core"),
    ("guard.redact", "from reflexd.shell import parse", "imports reflexd.shell"),
    ("guard.redact", "import numpy", "is pure and imports numpy"),
    ("adapters.claude", "from reflexd.setup import plan", "imports reflexd.setup"),
    ("adapters.claude", "import subprocess", "is pure and imports subprocess"),
    ("daemon.gate", "from reflexd.ctl import main", "imports reflexd.ctl"),
    ("daemon.gate", "import adapters.claude", "from the top level"),
    ("ctl.check", "from reflexd.daemon.server import Server", "imports reflexd.daemon.server"),
    ("ctl.check", "from reflexd.daemon import server", "imports reflexd.daemon"),
    ("setup.unhook", "from reflexd.errors import ReflexError", "imports reflexd.errors"),
    ("engine.worker", "import torch", "which engine.tensor alone does"),
    ("daemon.gate", "def f() -> None:\n    from transformers import AutoModel", "which engine.tensor alone does"),
    ("daemon.gate", "from reflexd.engine.engine import Engine", "imports reflexd.engine.engine"),
    ("brandnew", "x = 1", "no rule says"),
]


@pytest.mark.parametrize(("module", "source", "said"), PLANTED)
def test_a_planted_breach_is_seen(module: str, source: str, said: str) -> None:
    around = {"daemon.gate": "", "daemon.server": "", "core.decide": "", "ctl.main": ""}
    (found,) = breaches({**around, module: source})
    assert found.startswith(module)
    assert said in found


def test_what_is_allowed_is_not_a_breach() -> None:
    fine = {
        "core.decide": "import re, os\nfrom reflexd.shell.parse import read\nos.path.join('a')",
        "shell.parse": "from reflexd.types import Event\nfrom importlib import resources",
        "ctl.why": "from reflexd.daemon.journal import find\nfrom reflexd import __version__, paths",
        "daemon.gate": "import time, socket\nfrom reflexd.core import decide\nfrom . import peers",
        "daemon.peers": "",
        "daemon.journal": "",
    }
    assert list(breaches(fine)) == []


# ---- what agents load -----------------------------------------------------------------

HOOK_MODULES = {"_signal", "_socket", "posix", "sys", "time"}


def imported(source: str) -> set[str]:
    tree = ast.parse(source)
    return {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names} | {
        node.module or "." for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
    }


def test_the_python_hook_imports_nothing_that_has_to_be_looked_for() -> None:
    """Each is compiled in or one extension file: a module written in Python would cost its own reading."""
    assert imported((PACKAGE / "shims" / "reflex_hook.py").read_text("utf-8")) <= HOOK_MODULES


def test_the_hermes_plugin_imports_the_standard_library_only() -> None:
    assert imported((PACKAGE / "shims" / "hermes" / "__init__.py").read_text("utf-8")) <= sys.stdlib_module_names


@pytest.mark.parametrize("name", ["opencode.js", "pi.ts", "frame.js"])
def test_a_javascript_plugin_imports_nothing_but_the_runtime(name: str) -> None:
    text = (PACKAGE / "shims" / name).read_text("utf-8")
    assert foreign_scripts(text) == []


def foreign_scripts(text: str) -> list[str]:
    found = []
    for line in text.splitlines():
        words = line.split()
        if "import" in words[:1] and not words[-1].strip("\"';").startswith("node:"):
            found.append(line)
        if "require(" in line or "import(" in line:
            found.append(line)
    return found


@pytest.mark.parametrize(
    "line", ['import x from "left-pad";', 'const y = require("fs");', 'await import("x")', 'import "./x.js"']
)
def test_a_planted_script_import_is_seen(line: str) -> None:
    assert foreign_scripts(f'import fs from "node:fs";\n{line}') == [line]


# ---- what a running process loads -----------------------------------------------------

HEAVY = (
    "torch",
    "transformers",
    "numpy",
    "safetensors",
    "accelerate",
    "PIL",
    "starlette",
    "uvicorn",
    "textual",
    "sqlglot",
)


def loaded(statement: str) -> set[str]:
    """The modules that a fresh interpreter holds after `statement`."""
    code = f"{statement}\nimport sys\nprint(*sys.modules, sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PACKAGE.parent, check=True, capture_output=True, text=True, timeout=60
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "module", ["reflexd.daemon.app", "reflexd.daemon.serve", "reflexd.ctl.main", "reflexd.ctl.check"]
)
def test_importing_it_loads_nothing_heavy(module: str) -> None:
    assert loaded(f"import {module}").isdisjoint(HEAVY)


def test_a_heavy_import_would_be_seen() -> None:
    fake = "import sys, types; sys.modules['torch'] = types.ModuleType('torch')"
    assert not loaded(fake).isdisjoint(HEAVY)


def test_the_command_line_never_loads_the_live_daemon() -> None:
    names = [name for name in modules() if name.startswith("ctl.")]
    live = {
        f"reflexd.daemon.{name}" for name in ("app", "serve", "server", "gate", "live", "sockets", "store", "standing")
    }
    assert loaded("import " + ", ".join(f"reflexd.{name}" for name in names)).isdisjoint(live)
