"""The words we say a program gets are the words that bash gives it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reflexd.shell.fields import known
from reflexd.shell.interpret import read

LINES = [line for line in Path(__file__).with_name("words.sh").read_text().split("\n%%\n") if line.strip()]
BASH = shutil.which("bash") or ""
RECORD = """#!{python} -IS
import json, sys
with open({log!r}, "a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
"""


@pytest.mark.skipif(not BASH, reason="no bash to compare with")
@pytest.mark.parametrize("line", LINES, ids=[line[:50] for line in LINES])
def test_words_are_those_of_bash(line: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    program = tmp_path / "rec"
    program.write_text(RECORD.format(python=os.path.realpath(sys.executable), log=str(log)))
    program.chmod(0o755)
    cwd = tmp_path / "cwd"
    cwd.mkdir()
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": "/home/dev", "LC_ALL": "C.UTF-8"}
    subprocess.run([BASH, "-c", line], cwd=cwd, env=env, capture_output=True, timeout=20, check=False)
    ran = [json.loads(row) for row in log.read_text().splitlines()] if log.exists() else []

    reading = read(line, str(cwd), "/home/dev", env)
    ours = [list(call.argv[1:]) for call in reading.calls if call.argv and call.name == "rec"]
    assert not reading.opaque
    assert all(known(word) for words in ours for word in words)
    assert ours == ran
