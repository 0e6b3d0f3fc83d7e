"""Envelopes as the daemon keeps them: over a restart, by real paths, and none without the store."""

from __future__ import annotations

import os
import sqlite3

import pytest

from reflexd import paths
from reflexd.control import EnvelopeRequest
from reflexd.daemon.standing import Standing
from reflexd.errors import ReflexError


@pytest.fixture
def home(short_home: str) -> str:
    paths.private_dir(paths.state_dir(short_home))
    for name in ("w", "other"):
        os.mkdir(os.path.join(short_home, name))
    os.symlink(os.path.join(short_home, "w"), os.path.join(short_home, "link"))
    return short_home


def test_it_holds_over_a_restart_and_through_links(home: str) -> None:
    standing = Standing(home)
    standing.set_envelope(EnvelopeRequest(os.path.join(home, "link"), "docs alone"))
    standing.set_envelope(EnvelopeRequest("pi:1", "nothing at all"))
    standing.close()
    again = Standing(home)
    assert again.envelope("pi:2", os.path.join(home, "w")) == "docs alone"
    assert again.envelope("pi:2", os.path.join(home, "link", "deep")) == "docs alone"
    assert again.envelope("pi:2", os.path.join(home, "other")) == ""
    assert again.envelope("pi:2", "") == ""
    assert again.envelope("pi:1", os.path.join(home, "w")) == "nothing at all"
    again.close()


def test_a_new_one_stands_in_place_of_the_old_and_a_secret_in_it_is_masked(home: str) -> None:
    standing = Standing(home)
    standing.set_envelope(EnvelopeRequest("pi:1", "old"))
    token = "ghp_" + "a1B2" * 9
    standing.set_envelope(EnvelopeRequest("pi:1", f"use {token} for the docs"))
    assert len(standing.envelopes) == 1
    assert "for the docs" in standing.envelope("pi:1", "")
    assert token not in standing.envelope("pi:1", "")
    with pytest.raises(ReflexError, match="not a directory"):
        standing.set_envelope(EnvelopeRequest(os.path.join(home, "nowhere"), "x"))
    standing.close()


def test_without_the_store_there_is_none_and_none_can_be_set(home: str) -> None:
    store = paths.store_file(home)
    with open(store, "w") as file:
        file.write("not a database, and longer than the header of one" * 40)
    os.chmod(store, 0o600)
    standing = Standing(home)
    assert standing.faults
    assert standing.envelope("pi:1", home) == ""
    with pytest.raises(ReflexError, match="cannot be kept"):
        standing.set_envelope(EnvelopeRequest("pi:1", "x"))
    standing.close()


def test_a_row_written_by_hand_is_no_trouble(home: str) -> None:
    Standing(home).close()
    with sqlite3.connect(paths.store_file(home)) as db:
        db.execute("INSERT INTO envelopes VALUES ('pi:1', 'no json', 1, 0, x'')")
    db.close()
    standing = Standing(home)
    assert standing.envelope("pi:1", home) == ""
    assert standing.envelopes == ()
    standing.close()
