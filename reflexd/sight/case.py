"""What a judge is told about a call beyond the call itself, as far as the disk tells."""

from __future__ import annotations

from reflexd.core import casefile
from reflexd.core.casefile import Case
from reflexd.guard.redact import redact
from reflexd.sight.look import sighting
from reflexd.types import Context, Guarded, PermissionRequest, Said, Shell, Want


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
