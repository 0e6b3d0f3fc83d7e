"""Packaging: what ships, from where it can be run, and what must not stand in the tree."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from .tree import LINKED, PACKAGE, ROOT, foreign_places, python_files, text_files, too_long, versions

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_no_file_is_too_long() -> None:
    assert too_long({str(path.relative_to(ROOT)): path.read_text("utf-8") for path in python_files()}) == []


def test_a_long_file_is_seen() -> None:
    assert too_long({"a.py": "x\n" * 401, "b.py": "x\n" * 400}) == ["a.py: 401 lines"]


def test_no_file_names_a_machine_or_a_registry() -> None:
    assert foreign_places({str(path.relative_to(ROOT)): text for path, text in text_files()}) == []


@pytest.mark.parametrize(
    "line",
    [
        f"cd {ROOT} && make",
        '"resolved": ' + '"https://packages.example/a.tgz"',
        "pip install --index-" + "url https://packages.example/x",
        "https://packages.example/" + "simple/",
    ],
)
def test_a_planted_place_is_seen(line: str) -> None:
    assert len(foreign_places({"a.md": f"fine\n{line}\nfine"})) == 1


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def test_the_version_is_one_and_the_changelog_is_at_it_or_ahead() -> None:
    found = versions(read("reflexd/__init__.py"), read("pyproject.toml"), read("CHANGELOG.md"))
    version = found["pyproject.toml"]
    assert re.fullmatch(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?", version)
    assert found["reflexd/__init__.py"] == version
    assert found["CHANGELOG.md"] in {version, "Unreleased"}


@pytest.mark.parametrize(
    ("changelog", "top"),
    [("# C\n\n## [1.0.2] - x\n\n## 1.0.1\n", "1.0.2"), ("## [Unreleased]\n## 1.0.1\n", "Unreleased"), ("# C\n", "")],
)
def test_the_versions_are_read_where_they_stand(changelog: str, top: str) -> None:
    found = versions('__version__ = "1.0.0"\n', '[project]\nname = "x"\nversion = "1.0.1"\n', changelog)
    assert list(found.values()) == ["1.0.0", "1.0.1", top]


def test_the_base_install_has_no_model_library() -> None:
    base = {re.split(r"[^A-Za-z0-9_.-]", line)[0].lower() for line in PYPROJECT["project"]["dependencies"]}
    assert base.isdisjoint(
        {"torch", "transformers", "safetensors", "accelerate", "numpy", "starlette", "uvicorn", "textual"}
    )
    assert any(line.startswith("torch") for line in PYPROJECT["project"]["optional-dependencies"]["engine"])


@pytest.mark.parametrize("name", LINKED)
def test_a_linked_package_is_a_relative_link_and_imports_under_our_name(name: str) -> None:
    link = PACKAGE / name
    assert link.is_symlink()
    assert os.readlink(link) == f"../{name}"
    assert (link / "__init__.py").is_file()


# ---- run from everywhere --------------------------------------------------------------

PROBE = """
import importlib, pkgutil, sys
import reflexd, reflexd.adapters.all, reflexd.shims, reflexd.setup, reflexd.config
from reflexd.guard.redact import library
assert library().patterns
assert pkgutil.get_data("reflexd.shims", "reflex_hook.py") and pkgutil.get_data("reflexd.shims", "hermes/plugin.yaml")
assert "adapters" not in sys.modules and "shims" not in sys.modules
print(reflexd.__file__)
"""


def build(kind: str, target: Path) -> Path:
    """A wheel of the tree, made by the build backend that pyproject.toml names, without a network."""
    pytest.importorskip("hatchling", reason="hatchling builds the wheel: pip install hatchling")
    code = f"from hatchling.build import build_{kind} as build; print(build({str(target)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True)
    return target / done.stdout.split()[-1]


def probe(*paths: Path, cwd: Path, prelude: str = "") -> Path:
    """Where reflexd was found by an interpreter that has `paths` in front."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", prelude + PROBE], cwd=cwd, env=env, check=True, capture_output=True, text=True
    )
    return Path(done.stdout.strip()).resolve()


def test_the_wheel_holds_everything_and_runs_alone(tmp_path: Path) -> None:
    site = tmp_path / "site"
    with zipfile.ZipFile(build("wheel", tmp_path)) as wheel:
        names = set(wheel.namelist())
        wheel.extractall(site)
    tracked = {
        str(path.relative_to(ROOT))
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not path.name.endswith(".pyc")
    }
    linked = {
        f"reflexd/{path.relative_to(ROOT)}"
        for name in LINKED
        for path in (ROOT / name).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in tracked | linked if name not in names} == set()
    assert not {
        name for name in names if name.split("/")[0] in {"adapters", "shims", "config", "setup", "tests", "bench"}
    }
    assert probe(site, cwd=tmp_path) == site / "reflexd" / "__init__.py"


def test_an_editable_install_finds_the_tree(tmp_path: Path) -> None:
    site = tmp_path / "site"
    with zipfile.ZipFile(build("editable", tmp_path)) as wheel:
        wheel.extractall(site)
    prelude = f"import site; site.addsitedir({str(site)!r})\n"
    assert probe(cwd=tmp_path, prelude=prelude) == PACKAGE / "__init__.py"


def test_it_runs_from_the_trees_root() -> None:
    assert probe(cwd=ROOT) == PACKAGE / "__init__.py"


@pytest.mark.parametrize("script", PYPROJECT["project"]["scripts"].values())
def test_an_entry_point_is_there(script: str) -> None:
    module, _, function = script.partition(":")
    subprocess.run([sys.executable, "-c", f"from {module} import {function}"], cwd=ROOT, check=True)
