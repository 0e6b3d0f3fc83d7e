from __future__ import annotations

import argparse
import os

import msgspec
from msgspec import Struct

from reflexd import paths
from reflexd.client import Client
from reflexd.control import CheckRequest, CheckResult
from reflexd.ctl.calls import Call, Judge, numbered
from reflexd.ctl.explain import tree
from reflexd.ctl.rows import printable
from reflexd.ctl.terminal import error
from reflexd.errors import ReflexError, Unreachable
from reflexd.types import Decision

EXAMPLE = 'reflexctl check "rm -rf ~" --explain'
EXITS = {Decision.PASS: 0, Decision.ALLOW: 0, Decision.ASK: 10, Decision.DENY: 20}
FAILED, USAGE = 1, 2


class Line(Call, frozen=True, forbid_unknown_fields=True):
    """A line of a batch."""

    id: str | int


class Answer(Struct, frozen=True):
    """A line of a batch's result."""

    id: str | int
    decision: Decision
    reason: str
    decided_by: str


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "command",
        nargs="?",
        metavar="CMD",
        help="the command, or what --tool works on: a path, a URL, an MCP tool's arguments as JSON",
    )
    parser.add_argument("--batch", metavar="FILE", help="judge JSON lines ('-': standard input)")
    parser.add_argument("--tool", default="Bash", help="as Claude Code calls it: Bash, Read, Write, WebFetch, ...")
    parser.add_argument("--cwd", default="", metavar="DIR", help="where the call is made (here)")
    parser.add_argument("--home", default="", metavar="DIR", help="judge as if this were the home directory")
    parser.add_argument("--env", action="append", default=[], metavar="K=V", type=_pair, help="a variable of the call")
    parser.add_argument("--intent", default="", metavar="TEXT", help="what the call is for; rules do not look at it")
    parser.add_argument("--explain", action="store_true", help="say what the call would do, as far as it is understood")
    parser.add_argument("--local", action="store_true", help="judge in this process, without a daemon")
    parser.add_argument("--json", action="store_true", help="the verdict and the facts as one JSON object")


def run(args: argparse.Namespace) -> int:
    if (args.command is None) == (args.batch is None):
        error("give either a command or --batch", "see reflexctl check --help")
        return USAGE
    judge = _local() if args.local else _daemon()
    if args.batch is not None:
        return _batch(args.batch, judge, _cwd(args.cwd))
    result = judge(_request(args))
    if args.json:
        print(msgspec.json.encode(result).decode())
    else:
        _print(result, args.explain)
    return EXITS[result.verdict.decision]


def _request(args: argparse.Namespace) -> CheckRequest:
    field = "args" if args.tool.startswith("mcp__") else _FIELDS.get(args.tool, "command")
    given = {field: args.command}
    return CheckRequest(args.tool, **given, cwd=_cwd(args.cwd), home=args.home, env=os.environ | dict(args.env))


_FIELDS = {
    "Read": "path",
    "Write": "path",
    "Edit": "path",
    "MultiEdit": "path",
    "NotebookEdit": "path",
    "WebFetch": "url",
    "WebSearch": "text",
    "Glob": "text",
    "Grep": "text",
    "Agent": "text",
}


def _cwd(given: str) -> str:
    return os.path.abspath(given) if given else os.getcwd()


def _daemon() -> Judge:
    client = Client(paths.home())

    def judge(request: CheckRequest) -> CheckResult:
        try:
            return client.check(request)
        except Unreachable as e:
            raise ReflexError(e.message, f"{e.hint}, or judge without it: reflexctl check --local ...") from e

    return judge


def _local() -> Judge:
    from reflexd.ctl import local  # reads no command where a daemon does

    return local.judge()


def _print(result: CheckResult, explain: bool) -> None:
    verdict = result.verdict
    source = verdict.rule or verdict.decided_by
    print(printable(f"{verdict.decision} [{source}] {verdict.reason}".rstrip()))
    if not explain:
        return
    for line in tree(result):
        print(line)


def _batch(file: str, judge: Judge, cwd: str) -> int:
    """Every line is read and checked before the first is judged, so that a broken file gives no half result."""
    requests: list[tuple[str | int, CheckRequest]] = []
    for number, text in numbered(file):
        try:
            line = msgspec.json.decode(text, type=Line)
            requests.append((line.id, line.request(cwd, os.environ)))
        except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as e:
            error(f"{file}: line {number}: {e}", 'a line is like {"id": 1, "command": "git status"}')
            return USAGE
    for key, request in requests:
        verdict = judge(request).verdict
        answer = Answer(key, verdict.decision, verdict.reason, verdict.decided_by)
        print(msgspec.json.encode(answer).decode())
    return 0


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not like NAME=value")
    return name, value
