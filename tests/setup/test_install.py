"""setup/install.sh with stand-ins for Python and pip: what it does, in which order, and what it says is missing."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.ctl.world import PATIENCE_S, ROOT, World

SCRIPT = os.path.join(ROOT, "setup", "install.sh")
# Plays an interpreter of the system, and the one of the virtual environment that it makes. What it is asked
# is written down; what is named in the file `broken` fails.
PYTHON = r"""#!/bin/sh
printf '%s\n' "${PYTHONPATH-}${PYTHONHOME-}$*" >>@BASE@/asked
case "$*" in
    *version_info*) grep -q version @BASE@/broken && exit 1 ;;
    *ensurepip*) grep -q venv @BASE@/broken && exit 1 ;;
    *'-m venv'*)
        mkdir -p "$4/bin"
        : >"$4/pyvenv.cfg"
        cp "$0" "$4/bin/python"
        cp @BASE@/reflexctl "$4/bin/reflexctl"
        chmod +x "$4/bin/reflexctl"
        ;;
    *'pip install'*) grep -q pip @BASE@/broken && exit 1 ;;
esac
exit 0
"""

REFLEXCTL = """#!/bin/sh
printf 'reflexctl %s\\n' "$*" >>@BASE@/asked
! grep -q reflexctl @BASE@/broken
"""


def install(
    world: World, *args: str, broken: str = "", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    with open(os.path.join(world.base, "broken"), "w", encoding="utf-8") as file:
        file.write(broken)
    programs = os.path.join(world.base, "programs")
    if not os.path.isdir(programs):
        os.mkdir(programs)
        for name in ("sh", "dirname", "mkdir", "rm", "ln", "cp", "grep", "chmod"):
            os.symlink(_which(name), os.path.join(programs, name))
        for path, text in ((os.path.join(programs, "python3"), PYTHON), (f"{world.base}/reflexctl", REFLEXCTL)):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace("@BASE@", f"'{world.base}'"))
            os.chmod(path, 0o755)
    whole = {"HOME": world.home, "PATH": programs, **(env or {})}
    return subprocess.run(["/bin/sh", SCRIPT, *args], env=whole, capture_output=True, text=True, timeout=PATIENCE_S)


def _which(name: str) -> str:
    return next(path for path in (f"/bin/{name}", f"/usr/bin/{name}") if os.path.exists(path))


def asked(world: World) -> str:
    with open(os.path.join(world.base, "asked"), encoding="utf-8") as file:
        return file.read()


@pytest.mark.parametrize("home", ["home", "o'neil's home; touch x"])
def test_it_installs_hooks_and_links(world: World, home: str) -> None:
    os.rename(world.home, os.path.join(world.base, home))
    world.home = os.path.join(world.base, home)
    done = install(world, "--agents", "claude")
    assert done.returncode == 0, done.stderr
    assert f"pip install --quiet --disable-pip-version-check --upgrade {ROOT}" in asked(world)
    assert asked(world).rstrip().endswith("reflexctl setup --yes --agents claude")
    venv = world.path(".local/share/reflex/venv")
    assert os.readlink(world.path(".local/bin/reflexctl")) == f"{venv}/bin/reflexctl"
    assert os.readlink(world.path(".local/bin/reflexd")) == f"{venv}/bin/reflexd"
    assert "is not on your PATH" in done.stdout
    assert "to undo all of it: reflexctl uninstall" in done.stdout
    assert os.listdir(world.base).count("x") == 0


def test_a_second_run_upgrades_in_the_environment_that_is_there(world: World) -> None:
    assert install(world).returncode == 0
    done = install(world)
    assert done.returncode == 0, done.stderr
    assert asked(world).count("-m venv") == 1
    assert asked(world).count("pip install") == 2


def test_an_environment_whose_python_is_gone_is_made_anew(world: World) -> None:
    assert install(world).returncode == 0
    os.unlink(world.path(".local/share/reflex/venv/bin/python"))
    assert install(world).returncode == 0
    assert asked(world).count("-m venv") == 2


def test_nothing_is_said_of_a_path_that_is_right(world: World) -> None:
    install(world)
    path = f"{os.path.join(world.base, 'programs')}:{world.path('.local/bin')}"
    assert "is not on your PATH" not in install(world, env={"PATH": path}).stdout


@pytest.mark.parametrize(
    ("broken", "says", "hint"),
    [
        ("version", "found no Python 3.11 or newer", "PYTHON=/path/to/python3"),
        ("venv", "has no venv module", "apt install python3-venv"),
        ("pip", "pip could not install reflex", "package index"),
        ("reflexctl", "not everything is set up", "reflexctl doctor"),
    ],
)
def test_what_is_missing_is_said(world: World, broken: str, says: str, hint: str) -> None:
    done = install(world, broken=broken)
    assert done.returncode == 1
    assert says in done.stderr
    assert hint in done.stderr
    assert "to undo all of it" not in done.stdout


def test_a_program_of_somebody_else_is_not_replaced(world: World) -> None:
    world.write(".local/bin/reflexctl", "mine", 0o755)
    done = install(world)
    assert done.returncode == 1
    assert "is not a link" in done.stderr
    assert world.read(".local/bin/reflexctl") == "mine"


@pytest.mark.parametrize("home", ["", "relative", "/nonexistent"])
def test_without_a_home_nothing_is_made(world: World, home: str) -> None:
    done = install(world, env={"HOME": home})
    assert done.returncode == 1
    assert done.stderr.startswith("install: error: ")
    assert not os.path.exists(os.path.join(world.base, "asked"))


def test_a_variable_of_python_s_does_not_get_in(world: World) -> None:
    trap = world.path("trap")
    done = install(world, env={"PYTHONPATH": trap, "PYTHONHOME": trap})
    assert done.returncode == 0
    assert trap not in asked(world)
