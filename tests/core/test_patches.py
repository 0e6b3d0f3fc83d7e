"""Every file that some agent would change by a patch is named, however loosely its header is written."""

from __future__ import annotations

import pytest

from reflexd.core.facts import facts
from reflexd.core.patches import Change, read
from reflexd.types import Context, Shell

BEGIN, END = "*** Begin Patch\n*** Add File: ok.txt\n+x\n", "\n*** End Patch\n"


@pytest.mark.parametrize(
    ("header", "changes"),
    [
        ("*** Delete File: victim", {Change("victim", deleted=True)}),
        # Codex 0.171.0 deletes the file for each of these.
        ("  *** Delete File: victim", {Change("victim", deleted=True)}),
        ("\u00a0*** Delete File: victim  ", {Change("victim", deleted=True)}),
        ("*** Delete File: victim\r", {Change("victim", deleted=True)}),
        # opencode 1.18.33 reads the name right after the colon.
        ("*** Update File:victim\n*** Move to:other\n@@\n+b", {Change("victim", "b", True), Change("other", "b")}),
        # Hermes 0.19.0's own reader takes these.
        ("***Update File: victim\n@@\n-a\n+b", {Change("victim", "b")}),
        ("***   Delete   File:victim", {Change("victim", deleted=True)}),
        ("*** Move File: victim -> other", {Change("victim", deleted=True), Change("other")}),
    ],
)
def test_loose_headers(header: str, changes: set[Change]) -> None:
    assert set(read(BEGIN + header + END)) == {Change("ok.txt", "x"), *changes}


def test_unified_diffs() -> None:
    text = (
        "--- a/one\n+++ b/one\n@@ -1 +1 @@\n-a\n+b\n--- a/two\n+++ /dev/null\n-a\nrename from three\nrename to four\n"
    )
    assert set(read(text)) == {Change("one", "b"), Change("two", deleted=True), Change("three"), Change("four")}


def test_content_that_looks_like_a_header_hides_nothing() -> None:
    changes = read(
        "*** Begin Patch\n*** Update File: .bashrc\n@@\n+++ elsewhere\n+export LD_PRELOAD=x\n*** End Patch\n"
    )
    assert Change(".bashrc", "export LD_PRELOAD=x") in changes


def test_what_is_no_patch_names_nothing() -> None:
    assert read("") == read("hello\n+world\n") == ()


@pytest.mark.parametrize(
    ("command", "target"),
    [
        ("apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF", "/home/u/p/a"),
        ("cd .. && apply_patch <<EOF\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF", "/home/u/a"),
        ("apply_patch '*** Begin Patch\n*** Delete File: /etc/a\n*** End Patch'", "/etc/a"),
    ],
)
def test_codex_applies_a_patch_that_comes_as_a_shell_command(command: str, target: str) -> None:
    effects = facts(Shell(command), Context(cwd="/home/u/p", home="/home/u")).effects
    assert ("delete", target) in {(effect.kind, effect.target) for effect in effects}
