"""What a judge is told about a call beyond the call itself, as far as the disk tells."""

from __future__ import annotations

from reflexd.core import casefile, questions
from reflexd.core.casefile import Case
from reflexd.guard.redact import redact
from reflexd.sight.look import sighting
from reflexd.types import Context, Facts, Guarded, PermissionRequest, Request, Said, Shell, Tool, Want


def told(event: Guarded, context: Context, operator: str, said: Said) -> Case:
    """`operator`: what the settings say about this machine. Redacts all of the call; may wait for a disk."""
    whole = casefile.words(event.tool)
    words = redact(whole)
    repository = dict(sighting(Want("repository", context.cwd), context).pairs) if context.cwd else {}
    return Case(
        words=words,
        operator=operator,
        agent=event.origin.agent,
        whole=len(words) <= casefile.CALL_MAX,
        redacted=words != whole,
        project=repository.get("root", ""),
        branch=repository.get("branch", ""),
        said=said,
        plan=event.origin.permission_mode == "plan",
        unsandboxed=isinstance(event, PermissionRequest) or (isinstance(event.tool, Shell) and event.tool.unsandboxed),
    )


def request(tool: Tool, facts: Facts, context: Context, case: Case) -> Request:
    """What a judge is asked about a call. Redacted as a whole, which takes milliseconds: effects of a script that was
    read, and a branch's name, may hold what the call's own words do not."""
    state = redact(casefile.state(tool, facts, context, case))
    return Request(state, questions.shipped().fitting(casefile.slots(case)))
