"""Text that is known to crash the grammar's own scanner: the process must live. In a process of its own, to tell."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import sys
from reflexd.shell.interpret import read
for _ in range(50):
    reading = read(sys.argv[1], "/home/u/p", "/home/u", {})
print([call.argv for call in reading.calls])
"""


@pytest.mark.parametrize(
    "text",
    [
        "{\U0010ffff",
        "d{\U0010ffffV",
        "echo {\U0010ffff..3}",
        "a={\U000318601; rm x",
        "echo {\u4e00..\u4e09} {\U0001f600,b}",
    ],
)
def test_a_brace_before_any_character_does_not_end_the_process(text: str) -> None:
    # What is read out of bounds depends on where libraries were loaded: one run of the fault crashes half the time.
    for _ in range(8):
        done = subprocess.run([sys.executable, "-c", CODE, text], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()[-400:]


def test_words_keep_their_characters() -> None:
    code = CODE.replace("sys.argv[1]", repr("rm -rf ~/\u00e9t\u00e9/\U0001f600 && caf\u00e9=1 ls \u65e5\u672c"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert "\u00e9t\u00e9/\U0001f600" in done.stdout
    assert "\u65e5\u672c" in done.stdout
