"""Each example as its reader runs it, on small models: what it says is worthless, that it runs is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import PIL.Image
import pytest

from tests.engine import models

ROOT = Path(__file__).parents[2]
DIFF = """diff --git a/one.py b/one.py
--- a/one.py
+++ b/one.py
@@ -1 +1 @@
-x = 1
+x = 2
diff --git a/two words.md b/two words.md
--- a/two words.md
+++ b/two words.md
@@ -1 +1 @@
-old
+new
"""


def run(*args: str, stdin: str = "") -> str:
    command = [sys.executable, *args]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=env, input=stdin, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_support_ticket() -> None:
    said = run("examples/support_ticket.py", "--model", str(models.smollm2()), "examples/ticket.txt")
    assert said.startswith("queue: ")
    assert "escalate: 0." in said


def test_image_triage(tmp_path: Path) -> None:
    paths = []
    for colour in ("red", "blue"):
        paths.append(str(tmp_path / f"{colour}.png"))
        PIL.Image.new("RGB", (48, 32), colour).save(paths[-1])
    said = run("examples/image_triage.py", "--model", str(models.tiny("qwen3_vl")), *paths)
    assert [line.partition(":")[0] for line in said.splitlines()] == ["red.png", "blue.png"]


def test_pr_review() -> None:
    said = run("examples/pr_review.py", "--model", str(models.tiny("qwen3_5_text")), stdin=DIFF)
    assert {line.split("  ")[-1] for line in said.splitlines()[1:]} == {"one.py", "two words.md"}
    with pytest.raises(AssertionError, match="no diff"):
        run("examples/pr_review.py", "--model", "x")


def test_the_page_names_each_of_them() -> None:
    page = (ROOT / "examples" / "README.md").read_text()
    assert all(f"examples/{path.name}" in page for path in (ROOT / "examples").glob("*.py"))
