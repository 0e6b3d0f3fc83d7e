"""Sorts pictures by what they show, with an image-text model.

python examples/image_triage.py --model DIR|ID IMAGE...
"""

from __future__ import annotations

import argparse
from pathlib import Path

from reflexd.engine import Engine
from reflexd.engine.images import Policy, checked
from reflexd.types import Choice, ChoiceAnswer, Noul, NoulAnswer, Request

KINDS = (
    ("screenshot", "of a program or a web page"),
    ("document", "text on paper, a receipt, a form"),
    ("photo", "of people, things or places"),
    ("drawing", "a diagram, a chart, a sketch"),
)
QUESTIONS = (
    ("kind", Choice(KINDS, "What kind of picture is this?")),
    ("private", Noul("Does it show a person's face or private data?")),
)
MARKER = "<the picture>"


def main() -> None:
    parser = argparse.ArgumentParser(description="Sort pictures by what they show.")
    parser.add_argument("--model", required=True)
    parser.add_argument("images", type=Path, nargs="+")
    asked = parser.parse_args()
    with Engine.open(asked.model) as engine:
        # All at once: the engine packs their questions into the same passes.
        futures = []
        for path in asked.images:
            image = checked(path.read_bytes(), Policy())
            futures.append(engine.submit(Request({"picture": MARKER}, QUESTIONS, ((MARKER, image),))))
        for path, future in zip(asked.images, futures, strict=True):
            kind, private = (answer for _, answer in future.result().answers)
            assert isinstance(kind, ChoiceAnswer)
            assert isinstance(private, NoulAnswer)
            print(
                f"{path.name}: {kind.choice} ({dict(kind.probabilities)[kind.choice]:.2f}), private {private.noul:.2f}"
            )


if __name__ == "__main__":
    main()
