"""Calls between their two events, and what finished ones left."""

from __future__ import annotations

from reflexd.core.past import Traces
from reflexd.daemon.underway import CALLS_MAX, FILES_MAX, LASTS_S, Underway
from reflexd.types import Source


def test_what_a_call_may_write_is_pending_until_it_ends() -> None:
    calls = Underway()
    calls.began("claude:a", "1", Traces(writes=("/w/x",)), 0)
    assert calls.past("claude:a", 1).pending == ("/w/x",)
    assert calls.past("claude:b", 1).pending == ("/w/x",), "another session's call writes the same files"
    calls.ended("claude:a", "1")
    assert calls.past("claude:a", 2).pending == ()


def test_a_call_whose_writes_are_not_known_keeps_its_session_busy() -> None:
    calls = Underway()
    calls.began("claude:a", "1", Traces(writes=None), 0)
    assert calls.past("claude:a", 1).busy
    assert not calls.past("claude:b", 1).busy
    calls.ended("claude:a", "1")
    assert not calls.past("claude:a", 2).busy


def test_a_call_that_never_ends_is_given_up() -> None:
    calls = Underway()
    calls.began("claude:a", "1", Traces(writes=None), 0)
    assert not calls.past("claude:a", LASTS_S + 1).busy


def test_a_job_keeps_its_session_busy_until_that_is_over() -> None:
    calls = Underway()
    calls.began("claude:a", "1", Traces(background=True), 0)
    calls.ended("claude:a", "1")
    assert calls.past("claude:a", 10 * LASTS_S).busy
    calls.forget("claude:a")
    assert not calls.past("claude:a", 1).busy


def test_a_download_is_remembered_for_every_session() -> None:
    calls = Underway()
    calls.began("claude:a", "1", Traces(downloaded=("/tmp/x",)), 0)
    calls.ended("claude:a", "1")
    calls.forget("claude:a")
    assert calls.past("codex:b", 1).downloaded == ("/tmp/x",)


def test_the_code_of_a_call_is_handed_back_once() -> None:
    calls = Underway()
    calls.began("claude:a", "1", Traces(sources=(Source("/w/run.sh", "d"),)), 0)
    assert calls.ended("claude:a", "2") == ()
    assert calls.ended("claude:a", "1") == (Source("/w/run.sh", "d"),)
    assert calls.ended("claude:a", "1") == ()


def test_what_is_kept_is_bounded() -> None:
    calls = Underway()
    for n in range(2 * FILES_MAX):
        calls.began("claude:a", str(n), Traces(downloaded=(f"/tmp/{n}",), writes=(f"/w/{n}",)), 0)
    past = calls.past("claude:a", 1)
    assert len(past.downloaded) == FILES_MAX
    assert len(past.pending) == CALLS_MAX
    assert past.downloaded[-1] == f"/tmp/{2 * FILES_MAX - 1}"
