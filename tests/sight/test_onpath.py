"""Which programs are found first where others than root could have put them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexd.sight.onpath import ANY, resolve, writable_first

MACHINE = "/usr/bin:/bin"
STRANGER = 12345


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """As root, all of it is root's; as another user, none of it is."""
    here = Path(os.path.realpath(tmp_path))
    for above in (here, *here.parents):
        if os.geteuid() == 0 and above.stat().st_uid == 0 and above != Path("/tmp") and "pytest" in str(above):
            above.chmod(0o755)
    return here


def put(path: Path, *, stranger: bool = False) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    if stranger:
        give_away(path)
    return path


def give_away(path: Path) -> None:
    """To somebody who is not root; what a user who is not root owns is that already."""
    if os.geteuid() == 0:
        os.lchown(path, STRANGER, STRANGER)


def test_the_machines_programs_are_roots(place: Path) -> None:
    assert writable_first(MACHINE, str(place), str(place)) == frozenset()
    found = resolve("sh", MACHINE, str(place))
    assert found is not None
    assert (found.path, found.writable) == ("/usr/bin/sh", False)


@pytest.mark.parametrize(
    "name", [".local/bin", ".nvm/versions/node/v22/bin", "proj/node_modules/.bin", "proj/venv/bin", "bin"]
)
def test_below_a_home(place: Path, name: str) -> None:
    put(place / name / "ls")
    put(place / name / "tool")
    first, last = f"{place}/{name}:{MACHINE}", f"{MACHINE}:{place}/{name}"
    assert writable_first(first, "/", str(place)) == {"ls", "tool"}
    assert writable_first(last, "/", str(place)) == {"tool"}
    assert resolve("ls", first, "/", str(place)) == resolve(f"{place}/{name}/ls", "", "/", str(place))


def test_below_the_working_directory_and_relative_to_it(place: Path) -> None:
    put(place / "ls")
    put(place / "tools/ls")
    assert writable_first(f":{MACHINE}", str(place)) == {"ls"}
    assert writable_first(f".:{MACHINE}", str(place)) == {"ls"}
    assert writable_first(f"{MACHINE}:", str(place)) == frozenset()
    done = subprocess.run(
        ["/bin/sh", "-c", "command -v ls"], env={"PATH": ""}, cwd=place, capture_output=True, check=False
    )
    assert done.returncode == 0
    assert writable_first("", str(place)) == {"ls"}
    assert writable_first(f"tools:{MACHINE}", str(place)) == {"ls"}
    assert writable_first(f"{place}/tools:{MACHINE}", str(place)) == {"ls"}


def test_by_owner_and_mode(place: Path) -> None:
    """As another user than root everything here is that user's, so all of it counts."""
    root = os.geteuid() == 0
    directory = place / "opt/bin"
    put(directory / "roots")
    put(directory / "strangers", stranger=True)
    put(directory / "open").chmod(0o777)
    assert writable_first(str(directory), "/") == ({"strangers", "open"} if root else {"roots", "strangers", "open"})
    directory.chmod(0o777)
    assert writable_first(str(directory), "/") == {"roots", "strangers", "open"}
    directory.chmod(0o755)
    (place / "opt").chmod(0o777)
    assert writable_first(str(directory), "/") == {"roots", "strangers", "open"}
    (place / "opt").chmod(0o1777)
    assert ("roots" in writable_first(str(directory), "/")) == (not root)
    directory.chmod(0o1777)
    assert "roots" in writable_first(str(directory), "/")
    directory.chmod(0o755)
    (place / "opt").chmod(0o755)
    give_away(place / "opt")
    assert "roots" in writable_first(str(directory), "/")


def test_links_out_of_roots_places(place: Path) -> None:
    directory = place / "opt/bin"
    directory.mkdir(parents=True)
    theirs = put(place / "their/tool", stranger=True)
    mine = put(place / "mine/tool")
    (directory / "theirs").symlink_to(theirs)
    (directory / "mine").symlink_to("../../mine/tool")
    (place / "their/hop").symlink_to(mine)
    give_away(place / "their/hop")
    give_away(place / "their")
    (directory / "hopping").symlink_to(place / "their/hop")
    found = writable_first(str(directory), "/")
    assert {"theirs", "hopping"} <= found
    assert ("mine" in found) == (os.geteuid() != 0)
    (place / "way").symlink_to("opt/bin")
    give_away(place / "way")
    assert "mine" in writable_first(str(place / "way"), "/")


def test_what_cannot_be_run_is_not_found(place: Path) -> None:
    directory = place / "opt/bin"
    put(directory / "data").chmod(0o644)
    (directory / "sub").mkdir()
    (directory / "gone").symlink_to("nowhere")
    (directory / "loop").symlink_to("loop")
    os.mkfifo(directory / "fifo")
    assert resolve("data", str(directory), "/") is None
    assert resolve("sub", f"{directory}:{MACHINE}", "/") is None
    if os.geteuid() == 0:
        assert writable_first(str(directory), "/") == frozenset()
    # In a place of others a file may be made to run at any time.
    assert "data" in writable_first(str(directory), "/", str(place))


def test_a_project_of_roots(place: Path) -> None:
    """In a container the agent is root, and owners say nothing."""
    put(place / "app/node_modules/.bin/tsc")
    put(place / "env/bin/python")
    (place / "env/pyvenv.cfg").write_text("")
    assert writable_first(f"{place}/app/node_modules/.bin", "/") == {"tsc"}
    assert writable_first(f"{place}/env/bin", "/") == {"python"}


def test_a_change_is_seen_at_once(place: Path) -> None:
    directory = place / "bin"
    directory.mkdir()
    names: set[str] = set()
    for number in range(200):
        put(directory / f"n{number}")
        names.add(f"n{number}")
        assert writable_first(str(directory), str(place)) == names
    os.utime(directory, ns=(0, 10**18))
    assert writable_first(str(directory), str(place)) == names
    put(directory / "later")
    assert "later" in writable_first(str(directory), str(place))


def test_a_place_that_cannot_be_listed(place: Path) -> None:
    directory = place / "bin"
    put(directory / "ls")
    for number in range(20_001):
        (directory / f"x{number}").symlink_to("ls")
    assert ANY in writable_first(f"{directory}:{MACHINE}", str(place))
    assert writable_first(f"{place}/none:{place}/bin/ls:/dev/null:{MACHINE}", str(place)) == frozenset()


def test_it_is_what_a_shell_would_run(place: Path) -> None:
    put(place / "a/tool").chmod(0o644)
    put(place / "b/tool")
    put(place / "c/tool")
    path = f"{place}/none:{place}/a:{place}/b:{place}/c:{MACHINE}"
    for name in ("tool", "ls", "no-such-program"):
        done = subprocess.run(
            ["/bin/sh", "-c", f"command -v {name}"], env={"PATH": path}, capture_output=True, text=True, check=False
        )
        found = resolve(name, path, str(place))
        assert (found.path if found else "") == done.stdout.strip()
        assert (shutil.which(name, path=path) or "") == done.stdout.strip()


@given(st.text(":/.ab\0é*", max_size=40), st.text("/a\0", max_size=10))
def test_no_path_raises(path: str, cwd: str) -> None:
    writable_first(path, cwd)
    resolve("a", path, cwd)
