"""Whatever was done to a worktree before, what is called recoverable comes back."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reflexd.sight.losses import Act, lost

from .conftest import World
from .test_losses import deleting

FILES = ["a", "d/a", "d/b", "d/e/c", "d/build/x", "build/y", "d/x.log"]
STEP = st.sampled_from(
    [
        "write",
        "same",
        "touch",
        "remove",
        "add",
        "add all",
        "commit",
        "reset",
        "link",
        "mkdir",
        "chmod",
        "stash",
        "hide",
        "gc",
    ]
)


def do(world: World, step: str, name: str, text: str) -> None:
    path = world.work / name
    match step:
        case "write" | "same" if not path.is_dir() and not path.parent.is_file():
            world.write(name, text if step == "write" or not path.is_file() else path.read_bytes())
        case "touch" if path.exists():
            os.utime(path)
        case "remove" if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        case "remove" | "link" if path.parent.is_dir() and not path.is_dir():
            path.unlink(missing_ok=True)
            path.symlink_to("a") if step == "link" else None
        case "mkdir" if not path.exists() and not path.is_symlink():
            path.mkdir(parents=True, exist_ok=True)
        case "chmod" if path.is_file():
            path.chmod(0o755)
        case "add":
            world.run("add", "-f", name)
        case "add all":
            world.run("add", "-A")
        case "commit":
            world.run("commit", "-q", "-m", "x")
        case "reset":
            world.run("reset", "-q", name)
        case "stash":
            world.run("stash", "-q")
        case "hide":
            world.run("update-index", "--assume-unchanged", name)
        case "gc":
            world.run("repack", "-q", "-a", "-d")


def contents(world: World) -> dict[str, bytes]:
    found = {}
    for directory, names, files in os.walk(world.work):
        names[:] = [name for name in names if name not in (".git", "build")]
        for name in files + [name for name in names if os.path.islink(os.path.join(directory, name))]:
            path = Path(directory, name)
            found[str(path)] = os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes()
    return found


@given(
    steps=st.lists(st.tuples(STEP, st.sampled_from(FILES), st.sampled_from(["1", "2", "a\r\n"])), max_size=8),
    target=st.sampled_from([*FILES, "d", "d/e", "d/build", "build"]),
    crlf=st.sampled_from(["false", "true", "input"]),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_called_recoverable_comes_back(
    lasting_world: World, steps: list[tuple[str, str, str]], target: str, crlf: str
) -> None:
    world = lasting_world
    shutil.rmtree(world.work)
    world.work.mkdir()
    world.clone(_dot_gitignore="build/\n*.log\n", a="1", d__a="1", d__e__c="2")
    world.git("config", "core.autocrlf", crlf)
    for step, name, text in steps:
        do(world, step, name, text)
    before = contents(world)
    path = world.work / target
    found = deleting(world, target)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    for name in world.git("ls-files", "-z").split("\0"):
        if not os.path.lexists(world.work / name):
            world.run("-c", "core.autocrlf=false", "checkout-index", "-f", "--", name)
    if found.recoverable:
        assert contents(world) | before == contents(world)
    else:
        assert found.why


@given(
    st.text(max_size=30).filter(lambda text: "/" not in text), st.sampled_from(["delete", "clean", "discard staged"])
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_path_raises(lasting_world: World, name: str, act: Act) -> None:
    lost([f"{lasting_world.work}/{name}"], True, lasting_world.env, act)
    lost([name], True, {}, act)
