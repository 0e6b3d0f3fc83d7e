"""What is handed to a judge holds no secret, wherever in the case it came from."""

from __future__ import annotations

import pytest

from reflexd.core.casefile import Case
from reflexd.sight.case import request
from reflexd.types import Context, Effect, Facts, Shell

SECRET = "glpat-ABCDEFGHIJKLMNOPQRST"
CONTEXT = Context("/tmp", "/home/dev")


@pytest.mark.parametrize(
    ("facts", "case", "context"),
    [
        (Facts(effects=(Effect("send", f"https://e.example/{SECRET}", by=1),)), Case("bash deploy.sh"), CONTEXT),
        (Facts(), Case("git push", project="/tmp", branch=SECRET), CONTEXT),
        (Facts(), Case(f"curl -H 'token: {SECRET}'"), CONTEXT),
        (Facts(), Case("x", operator=f"the token is {SECRET}"), CONTEXT),
        (Facts(), Case("x"), Context("/tmp", "/home/dev", env=(("AWS_PROFILE", SECRET),))),
    ],
    ids=["effect", "branch", "words", "operator", "environment"],
)
def test_a_secret_anywhere_in_the_case_is_masked(facts: Facts, case: Case, context: Context) -> None:
    asked = request(Shell("x"), facts, context, case)
    assert SECRET not in str(asked)
    assert "[redacted:" in str(asked.state)
