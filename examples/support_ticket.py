"""Routes a support ticket: one request, three questions, and a rule over the probabilities.

python examples/support_ticket.py --model DIR|ID|FILE.gguf TICKET.txt
"""

from __future__ import annotations

import argparse
from pathlib import Path

from reflexd.engine import Engine
from reflexd.types import Choice, ChoiceAnswer, Noul, NoulAnswer, Request, Score, ScoreAnswer

QUEUES = (
    ("billing", "invoices, refunds, payments"),
    ("technical", "something does not work as it should"),
    ("account", "users, logins, seats"),
    ("other", None),
)
QUESTIONS = (
    ("queue", Choice(QUEUES, "Which team should handle this ticket?")),
    ("escalate", Noul("Does a person have to act today?", yes="there is a deadline, or somebody cannot work")),
    ("mood", Score(("calm", "annoyed", "angry"), "How does the customer feel?")),
)
SURE = 0.5


def main() -> None:
    parser = argparse.ArgumentParser(description="Route a support ticket.")
    parser.add_argument("--model", required=True)
    parser.add_argument("ticket", type=Path)
    asked = parser.parse_args()
    with Engine.open(asked.model) as engine:
        response = engine.answer(Request({"ticket": asked.ticket.read_text("utf-8")}, QUESTIONS))
    answers = dict(response.answers)
    queue, escalate, mood = answers["queue"], answers["escalate"], answers["mood"]
    assert isinstance(queue, ChoiceAnswer)
    assert isinstance(escalate, NoulAnswer)
    assert isinstance(mood, ScoreAnswer)
    # Somebody who is not sure asks a person instead of guessing.
    print(f"queue: {queue.choice if queue.margin >= SURE else 'a person decides'} (margin {queue.margin:.2f})")
    for name, p in queue.probabilities:
        print(f"  {p:.3f} {name}")
    print(f"escalate: {escalate.noul:.2f}")
    print(f"mood: {mood.score:.2f} of {len(mood.legend) - 1}")
    print(f"{response.usage.input_tokens} tokens in {response.seconds:.2f} s")


if __name__ == "__main__":
    main()
