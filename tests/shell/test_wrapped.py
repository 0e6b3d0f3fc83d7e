"""`rm -rf /etc` wrapped in whatever runs its words, its input or its options as a command: it is always found."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflexd.shell.interpret import read
from reflexd.shell.wraps import rows

LINES = [line.replace("⏎", "\n") for line in Path(__file__).with_name("wrapped.txt").read_text().splitlines() if line]


@pytest.mark.parametrize("line", LINES)
def test_what_is_wrapped_is_found(line: str) -> None:
    calls = read(line, "/home/dev/proj", "/home/dev", {}).calls
    words = [" ".join((call.name, *call.argv[1:])) for call in calls if call.name in ("rm", "find", "unlink")]
    assert any("/etc" in text or (text == "rm -rf etc" and call.cwd == "/") for text in words for call in calls)


@pytest.mark.parametrize(
    "line",
    [
        "echo 'rm -rf /etc' > notes.txt",
        "git commit -m 'rm -rf /etc'",
        "grep -rn 'rm -rf /etc' .",
        "tmux set-buffer 'rm -rf /etc'",
        "tmux ls",
        "docker run --rm -v /etc:/x alpine ls /x",
        "sort -k 2 'rm -rf /etc'",
        "split -l 10 'rm -rf /etc'",
        "rg 'rm -rf /etc' src",
        "fzf -q 'rm -rf /etc'",
        "man 'rm -rf /etc'",
        "watch cat 'rm -rf /etc'",
        "command -v rm -rf /etc",
        "trap - EXIT",
        "xargs grep 'rm -rf /etc' < list",
        "dotenv -f 'rm -rf /etc' -- ls",
        "timeout 5 echo rm -rf /etc",
    ],
)
def test_what_is_only_mentioned_is_not(line: str) -> None:
    calls = read(line, "/home/dev/proj", "/home/dev", {}).calls
    assert not any(call.name == "rm" for call in calls)


def test_every_row_says_something_that_can_be_found() -> None:
    for name, row in rows().items():
        assert not (row.options and not (row.code or row.stdin)), name
        assert not (row.globals and not any(other.startswith(name + " ") for other in rows())), name
