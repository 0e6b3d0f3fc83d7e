"""What a judge reads about a call: one text, with what changes least first, so that an engine keeps its beginning.

Whoever hands it on redacts it (sight.case.request). What the agent says about its own call is not in here (see
core.questions).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from msgspec import Struct

from reflexd.core.confine import confined, leaves
from reflexd.core.gates import Circumstance
from reflexd.shell.comments import without_comments
from reflexd.types import (
    Code,
    Context,
    Edit,
    Effect,
    Facts,
    Fetch,
    Mcp,
    Other,
    Patch,
    Read,
    Said,
    Search,
    Shell,
    Spawn,
    Tool,
    WebSearch,
    Write,
)

CALL_MAX = 6000
EFFECTS_MAX = 24
OPERATOR_MAX = 4000
_TELLING = ("KUBECONFIG", "KUBE_CONTEXT", "AWS_PROFILE", "AWS_REGION", "TF_WORKSPACE", "ENVIRONMENT", "NODE_ENV")
"""Variables whose values name an environment and are no secrets."""


class Case(Struct, frozen=True):
    """What is known of one call beyond the call itself. `words`: its own text, without comments, redacted.

    `operator`: what the person wrote in the settings about this machine; `agent`: whose call it is; `whole`:
    whether `words` is all of it, with nothing masked. `project`: the repository around the working directory,
    empty where there is none; `envelope`, `repository`: bounds in a person's words, the repository's only if trusted.
    """

    words: str
    operator: str = ""
    agent: str = ""
    whole: bool = True
    redacted: bool = False
    project: str = ""
    branch: str = ""
    envelope: str = ""
    repository: str = ""
    said: Said = Said()
    plan: bool = False
    unsandboxed: bool = False


def words(tool: Tool) -> str:
    """The call's own text without comments: what they say is addressed to a reader and not run."""
    match tool:
        case Shell(command, workdir):
            text = without_comments(command)
            return f"{text}\n(in {workdir})" if workdir else text
        case Code(language, source):
            return f"{language}:\n{_without_comments(language, source)}"
        case Read(path):
            return path
        case Write(path, content):
            return f"{path}\n{content}"
        case Edit(path, added):
            return f"{path}\n{added}"
        case Patch(text) | WebSearch(text) | Fetch(text) | Spawn(text):
            return text
        case Search(pattern, path):
            return f"{pattern} {path}".strip()
        case Mcp(server, name, args):
            return f"{server} {name}\n{args}"
        case Other(name, args):
            return f"{name}\n{args}"


def state(tool: Tool, facts: Facts, context: Context, case: Case) -> str:
    """The text that is judged: operator, then session, then call."""
    return "\n".join(
        (
            "## The operator",
            case.operator[:OPERATOR_MAX] or "nothing was said about this machine",
            f"user {context.user or 'unknown'}, home {context.home or 'unknown'}",
            "",
            "## The session",
            *_session(context, case),
            "",
            "## The call",
            f"tool: {type(tool).__name__.lower()}",
            *_call(facts, case),
        )
    )


def slots(case: Case) -> dict[str, str]:
    """The texts that questions show; empty where nothing is known. `on_task` needs words of the agent or the person."""
    said = case.said
    shown = {
        "prompt": said.prompt,
        "intent": said.intent,
        "calls": "\n".join(said.calls),
        "envelope": case.envelope,
        "repository": case.repository,
    }
    return {name: text for name, text in shown.items() if text}


def circumstances(
    tool: Tool, facts: Facts, context: Context, case: Case, ruled: bool = False
) -> frozenset[Circumstance]:
    """What holds of the call, for gates to compare. `ruled`: a rule has an opinion."""
    held: dict[Circumstance, bool] = {
        "confined": confined(tool, facts, context),
        "leaves": leaves(tool, facts),
        "opaque": bool(facts.opaque),
        "plan": case.plan,
        "project": bool(case.project),
        "redacted": case.redacted,
        "ruled": ruled,
        "said": bool(case.said.intent),
        "tainted": bool(context.taint),
        "unsandboxed": case.unsandboxed,
        "unseen": bool(facts.unseen) or not case.whole,
    }
    return frozenset(name for name, holds in held.items() if holds)


def line(effect: Effect) -> str:
    """`delete /home/dev (home; recursive, rm)`"""
    how = ", ".join(word for word in ("recursive" if effect.recursive else "", effect.detail) if word)
    where = "; ".join(part for part in (", ".join(effect.places), how) if part)
    return f"{effect.kind} {effect.target}" + (f" ({where})" if where else "")


def _session(context: Context, case: Case) -> Iterator[str]:
    yield f"agent: {case.agent or 'unknown'}; directory: {context.cwd or 'unknown'}"
    if case.project:
        yield f"repository: {case.project}" + (f", branch {case.branch}" if case.branch else "")
    env = dict(context.env)
    named = [f"{name}={env[name][:100]}" for name in _TELLING if env.get(name)]
    if named:
        yield "environment: " + ", ".join(named)
    if context.production:
        yield "production is named: " + ", ".join(context.production[:16])
    if context.taint:
        yield "tainted by: " + "; ".join(context.taint[:4])


def _call(facts: Facts, case: Case) -> Iterator[str]:
    yield case.words[:CALL_MAX]
    left = len(case.words) - CALL_MAX
    if left > 0 or not case.whole:
        yield f"({left} more characters are not shown)" if left > 0 else "(more of it is not shown)"
    yield from _listed("it was read to do:", [line(effect) for effect in facts.effects])
    yield from _listed("it runs files that nobody read:", [f"{u.path or '?'} ({u.why})" for u in facts.unseen])
    yield from _listed("it runs files that were read:", [source.path for source in facts.sources])


def _listed(title: str, lines: Iterable[str]) -> Iterator[str]:
    shown = tuple(lines)
    if shown:
        yield title
        yield from (f"- {each[:300]}" for each in shown[:EFFECTS_MAX])
        if len(shown) > EFFECTS_MAX:
            yield f"- and {len(shown) - EFFECTS_MAX} more"


def _without_comments(language: str, source: str) -> str:
    if language.lower() in ("python", "py"):
        try:
            return ast.unparse(ast.parse(source))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return source
    return source
