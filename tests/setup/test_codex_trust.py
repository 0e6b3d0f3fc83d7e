"""Codex runs our hooks only when it trusts them: given through its own server, verified, taken back."""

from __future__ import annotations

import os

import pytest

from reflexd.errors import ReflexError
from reflexd.setup import codex_trust
from tests.ctl.world import World
from tests.setup import codex_server, samples


def write_codex(world: World) -> None:
    world.write(".codex/hooks.json", samples.CODEX_HOOKS)
    world.write(".codex/config.toml", samples.CODEX_CONFIG, 0o600)


def test_our_hooks_and_no_others_are_trusted_and_taken_back(world: World) -> None:
    codex_server.install(world, "good")
    write_codex(world)
    before = world.tree()
    done = world.ctl("setup", "--yes")
    assert done.returncode == 0, done.stderr
    config = world.read(".codex/config.toml")
    assert config.startswith(samples.CODEX_CONFIG)
    assert "hooks.json:pretooluse:0:0" in config
    assert "hooks.json:stop:1:0" in config
    assert "hooks.json:stop:0:0" not in config, "a hook of somebody else's is his to trust"
    assert world.ctl("doctor").returncode == 0
    assert world.ctl("uninstall", "--yes").returncode == 0
    assert world.tree() == before


def test_only_our_tables_go_out_of_a_config_that_changed_since(world: World) -> None:
    codex_server.install(world, "good")
    write_codex(world)
    assert world.ctl("setup", "--yes").returncode == 0
    theirs = '\n[hooks.state."/x/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n\n[tui]\ntheme = "dark"\n'
    world.write(".codex/config.toml", world.read(".codex/config.toml") + theirs)
    assert world.ctl("uninstall", "--yes").returncode == 0
    left = world.read(".codex/config.toml")
    assert "hooks.json:pretooluse" not in left
    assert left.startswith(samples.CODEX_CONFIG)
    assert left.endswith(theirs)


def test_a_config_behind_a_symlink_stays_behind_it(world: World) -> None:
    codex_server.install(world, "good")
    write_codex(world)
    os.makedirs(world.path("dotfiles"))
    os.rename(world.path(".codex/config.toml"), world.path("dotfiles/codex.toml"))
    os.symlink("../dotfiles/codex.toml", world.path(".codex/config.toml"))
    before = world.tree()
    done = world.ctl("setup", "--yes")
    assert done.returncode == 0, done.stderr
    assert os.readlink(world.path(".codex/config.toml")) == "../dotfiles/codex.toml"
    assert "hooks.state" in world.read("dotfiles/codex.toml")
    assert world.ctl("uninstall", "--yes").returncode == 0
    assert world.tree() == before


def test_trust_that_was_lost_is_seen_and_given_again(world: World) -> None:
    codex_server.install(world, "good")
    write_codex(world)
    assert world.ctl("setup", "--yes").returncode == 0
    world.write(".codex/config.toml", samples.CODEX_CONFIG)
    done = world.ctl("doctor")
    assert done.returncode == 1
    assert "does not trust 8 of our hooks" in done.stdout
    assert world.ctl("setup", "--yes").returncode == 0
    assert world.ctl("doctor").returncode == 0
    assert world.ctl("uninstall", "--yes").returncode == 0
    assert world.read(".codex/config.toml") == samples.CODEX_CONFIG


@pytest.mark.parametrize("behaviour", ["dies", "garbage", "refuses", "forgets", "other form", "lists nothing"])
def test_a_codex_that_does_not_take_it_is_said_loudly(world: World, behaviour: str) -> None:
    codex_server.install(world, behaviour)
    write_codex(world)
    before = world.tree()
    done = world.ctl("setup", "--yes")
    assert done.returncode == 1
    assert "CODEX DOES NOT RUN OUR HOOKS YET" in done.stderr
    assert "Hooks need review" in done.stderr
    assert "Traceback" not in done.stderr
    assert world.ctl("doctor").returncode == 1
    assert world.ctl("uninstall", "--yes").returncode == 0
    assert world.tree() == before


@pytest.mark.parametrize("behaviour", ["silent", "stubborn"])
def test_a_codex_that_says_nothing_is_not_waited_for(
    world: World, behaviour: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    codex_server.install(world, behaviour)
    write_codex(world)
    monkeypatch.setattr(codex_trust, "DEADLINE_S", 0.3)
    monkeypatch.setattr(codex_trust, "GRACE_S", 0.2)
    with pytest.raises(ReflexError, match="gave no answer"):
        codex_trust.trust(os.path.join(world.bin, "codex"), world.path(".codex"), world.home)
