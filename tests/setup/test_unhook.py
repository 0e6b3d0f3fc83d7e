"""unhook: the way out when reflex's own environment is gone, with nothing but a python3."""

from __future__ import annotations

import ast
import glob
import json
import os
import shutil
import stat
import subprocess
import sys
from importlib import resources

import pytest

from reflexd.adapters import opencode
from reflexd.setup import unhook as words
from reflexd.shims import HOOK_NAME, MARKER, OPENCODE_GUARD
from tests.ctl.world import PATIENCE_S, World
from tests.setup import samples

AGENTS = "claude,opencode,pi,hermes"


def set_up(world: World) -> None:
    done = world.ctl("setup", "--agents", AGENTS, "--yes")
    assert done.returncode == 0, done.stderr


def agents_files(world: World) -> dict[str, tuple[int, bytes]]:
    tree = world.tree().items()
    return {p: e for p, e in tree if p.split("/")[0] != ".local" and os.path.isfile(world.path(p))}


def run_unhook(world: World, *args: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Reflex's package cannot be imported here."""
    whole = {"HOME": world.home, "PATH": f"{world.bin}:/usr/bin:/bin", **(env or {})}
    path = world.path(".local/share/reflex/unhook")
    return subprocess.run([path, *args], env=whole, cwd="/", capture_output=True, text=True, timeout=PATIENCE_S)


def test_everything_goes_back_without_reflex(world: World) -> None:
    samples.all_agents(world)
    before = agents_files(world)
    set_up(world)
    world.kill_daemon()
    os.unlink(world.path(".local/share/reflex/bin/reflexctl"))
    done = run_unhook(world)
    assert done.returncode == 0, done.stderr
    assert agents_files(world) == before
    assert "no agent asks reflex any more" in done.stdout
    again = run_unhook(world)
    assert again.returncode == 0
    assert agents_files(world) == before


def test_our_entries_go_out_of_files_that_changed_since(world: World) -> None:
    samples.all_agents(world)
    set_up(world)
    settings = json.loads(world.read(".claude/settings.json"))
    settings["model"] = "opus \N{SNOWMAN}"
    world.write(".claude/settings.json", json.dumps(settings, ensure_ascii=False), 0o600)
    world.write(".hermes/config.yaml", world.read(".hermes/config.yaml") + "more: 1\n")
    jsonc = world.read(".config/opencode/opencode.jsonc").replace("// mine", "// still mine")
    world.write(".config/opencode/opencode.jsonc", jsonc)
    done = run_unhook(world)
    assert done.returncode == 0, done.stderr
    expected = json.loads(samples.CLAUDE) | {"model": "opus \N{SNOWMAN}"}
    assert json.loads(world.read(".claude/settings.json")) == expected
    assert stat.S_IMODE(os.stat(world.path(".claude/settings.json")).st_mode) == 0o600
    assert world.read(".hermes/config.yaml") == samples.HERMES + "more: 1\n"
    assert '"**"' not in world.read(".config/opencode/opencode.jsonc")
    assert "// still mine" in world.read(".config/opencode/opencode.jsonc")


def test_what_cannot_be_edited_safely_is_named_with_what_to_delete(world: World) -> None:
    samples.all_agents(world)
    set_up(world)
    broken = world.read(".claude/settings.json")[:-5]
    world.write(".claude/settings.json", broken)
    done = run_unhook(world)
    assert done.returncode == 1
    assert f"{world.path('.claude/settings.json')} is not plain JSON any more" in done.stderr
    assert HOOK_NAME in done.stderr
    assert world.read(".claude/settings.json") == broken
    assert world.read(".hermes/config.yaml") == samples.HERMES, "the others are seen to all the same"


def test_a_plugin_that_is_somebody_else_s_by_now_stays(world: World) -> None:
    samples.all_agents(world)
    set_up(world)
    world.write(".pi/agent/extensions/reflex.ts", "export default () => {}\n")
    done = run_unhook(world)
    assert done.returncode == 1
    assert "left alone" in done.stderr
    assert world.read(".pi/agent/extensions/reflex.ts") == "export default () => {}\n"


def test_a_symlink_stays_one(world: World) -> None:
    world.write("dotfiles/claude.json", samples.CLAUDE)
    os.makedirs(world.path(".claude"))
    os.symlink("../dotfiles/claude.json", world.path(".claude/settings.json"))
    assert world.ctl("setup", "--yes").returncode == 0
    assert run_unhook(world).returncode == 0
    assert os.readlink(world.path(".claude/settings.json")) == "../dotfiles/claude.json"
    assert world.read("dotfiles/claude.json") == samples.CLAUDE


@pytest.mark.parametrize("name", ["PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONINSPECT"])
def test_a_broken_environment_is_no_obstacle(world: World, name: str) -> None:
    world.write(".claude/settings.json", samples.CLAUDE)
    set_up_only_claude(world)
    world.write("trap/json.py", "raise SystemExit(7)")
    assert run_unhook(world, env={name: world.path("trap")}).returncode == 0
    assert world.read(".claude/settings.json") == samples.CLAUDE


def test_without_any_python_it_says_what_to_do_by_hand(world: World) -> None:
    world.write(".claude/settings.json", samples.CLAUDE)
    set_up_only_claude(world)
    path = world.path(".local/share/reflex/unhook")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for python in (
        "/usr/bin/python3",
        "/usr/local/bin/python3",
        "/opt/homebrew/bin/python3",
        os.path.realpath(sys.executable),
    ):
        text = text.replace(f" {python}", " /nonexistent", 1)
    world.write(".local/share/reflex/unhook", text, 0o700)
    tools = os.path.join(world.base, "tools")
    os.mkdir(tools)
    for tool in ("sh", "sed", "cat"):
        os.symlink(shutil.which(tool) or "", os.path.join(tools, tool))
    done = run_unhook(world, env={"PATH": tools})
    assert done.returncode == 1
    assert "found no working python3" in done.stderr
    assert world.path(".claude/settings.json") in done.stderr


@pytest.mark.parametrize("agent", ["claude", "codex", "opencode", "pi", "hermes"])
def test_not_from_inside_an_agent(world: World, agent: str) -> None:
    world.write(".claude/settings.json", samples.CLAUDE)
    set_up_only_claude(world)
    hooked = world.read(".claude/settings.json")
    program, unhook = world.path(f"bin/{agent}"), world.path(".local/share/reflex/unhook")
    ctl = f"{sys.executable} -m reflexd.ctl.main"
    lines = ("#!/bin/sh", unhook, f"{ctl} uninstall --yes", f"{ctl} setup --mode off --yes", "true\n")
    world.write(f"bin/{agent}", "\n".join(lines), 0o755)
    done = subprocess.run(
        [program], env=world.env(), cwd=world.home, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.stderr.count("only a person") == 3, done.stderr
    assert world.read(".claude/settings.json") == hooked


def test_it_runs_on_the_oldest_python_it_names(world: World) -> None:
    source = resources.files("reflexd.setup").joinpath("unhook.py").read_text("utf-8")
    ast.parse(source, feature_version=(3, 8))
    olds = [*glob.glob(os.path.expanduser("~/.pyenv/versions/3.8.*/bin/python3")), shutil.which("python3.8") or ""]
    if not olds[0]:
        return  # the grammar is all that can be looked at here
    world.write(".claude/settings.json", samples.CLAUDE)
    set_up_only_claude(world)
    os.unlink(os.path.join(world.bin, "python3"))
    world.link("python3", olds[0])
    done = run_unhook(world)
    assert done.returncode == 0, done.stderr
    assert world.read(".claude/settings.json") == samples.CLAUDE


def test_it_takes_no_arguments_but_help(world: World) -> None:
    world.write(".claude/settings.json", "{}")
    set_up_only_claude(world)
    assert run_unhook(world, "--help").returncode == 0
    assert run_unhook(world, "claude").returncode == 2
    assert "reflex_hook" in world.read(".claude/settings.json")


def test_a_manifest_that_is_gone_or_broken_gives_no_traceback(world: World) -> None:
    world.write(".claude/settings.json", "{}")
    set_up_only_claude(world)
    for content in ("", "[]", '{"manifest": 2, "files": [], "trusted": []}', '{"manifest": 1}'):
        world.write(".local/share/reflex/manifest.json", content, 0o600)
        done = run_unhook(world)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert "by hand" in done.stderr


def test_its_words_for_ours_are_those_of_the_rest() -> None:
    """It imports nothing of ours, so it spells these out; here they meet."""
    assert f"/shims/{HOOK_NAME}" == words.OUR_COMMAND
    assert words.OUR_MARK.decode() == MARKER
    assert set(words.AGENT_NAMES) == {"claude", "codex", "opencode", "pi", "hermes"}
    guard = json.dumps({"permission": OPENCODE_GUARD}).encode()
    assert json.loads(words.without_guard(guard)) == {"permission": {}}
    assert opencode.NAME in words.AGENT_NAMES


def set_up_only_claude(world: World) -> None:
    done = world.ctl("setup", "--agents", "claude", "--yes")
    assert done.returncode == 0, done.stderr
