"""First everything is planned and shown, then the daemon starts, and only then an agent is hooked: no
agent ever calls a hook whose daemon was never there. It ends with real events through every hook.
"""

from __future__ import annotations

import argparse
import os
from typing import get_args

import msgspec

import reflexd
from reflexd import paths
from reflexd.client import Client
from reflexd.control import Status
from reflexd.ctl import service
from reflexd.ctl.terminal import confirm, error, say, short, warn
from reflexd.errors import ReflexError, Refused
from reflexd.setup import agents, apply, gaps, manifest, plan, prove, unhook
from reflexd.setup.manifest import AgentRecord, Manifest
from reflexd.types import AGENTS, Agent, Mode, Places, Profile

EXAMPLE = "reflexctl setup --agents claude,codex --dry-run"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--agents",
        type=_names,
        default=(),
        metavar="all|a,b",
        help=f"of {', '.join(AGENTS)}; all (the default) takes those that are on this machine",
    )
    parser.add_argument("--mode", choices=get_args(Mode), help="enforce (as it is at first), shadow or off")
    parser.add_argument("--profile", choices=get_args(Profile), help="supervised (as it is at first) or autonomous")
    parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(args: argparse.Namespace) -> int:
    base = paths.home()
    places = paths.places(base, dict(os.environ))
    if args.mode in ("off", "shadow") and (above := unhook.agent_above()):
        raise ReflexError(f"this runs under {above}, and only a person loosens the mode", "use a terminal of your own")
    path = paths.manifest_file(base)
    before = _manifest(path, args.dry_run)
    found = _found(args.agents, places)
    ours = plan.own_files(places, before)
    if args.mode or args.profile:
        ours = (*ours, plan.settings(places, before, args.mode, args.profile))
    plans, failed = _plans(found, places, before)
    steps = plan.steps(plans)
    _show((*ours, *steps), plans, places, whole=args.dry_run or not args.yes)
    if args.dry_run:
        say("nothing has been changed (--dry-run)")
        return 1 if failed else 0
    if any(step.changes for step in (*ours, *steps)) and not args.yes and not confirm("change these files?"):
        say("nothing has been changed")
        return 1
    hooked = tuple(found[agent_plan.agent] for agent_plan in plans)
    now = msgspec.structs.replace(before, version=reflexd.__version__, python=places.python)
    for agent in hooked:
        known = before.agent(agent.name)
        now = now.with_agent(AgentRecord(agent.name, agent.home, agent.binary, known.version if known else ""))
    now = apply.begin(path, places, now, (*ours, *steps))
    apply.write(ours)
    status = _daemon(base)
    apply.write(steps)
    now = apply.settle(path, now, (*ours, *steps))
    if hooked:
        say("asking the agents for their versions ...")
    versions = agents.versions(hooked, places)
    for agent in hooked:
        now = now.with_agent(AgentRecord(agent.name, agent.home, agent.binary, versions.get(agent.name, "")))
    manifest.save(path, now)
    if any(agent.name == "codex" for agent in hooked):
        failed |= not _trust(path, now, found["codex"], base)
    for agent in hooked:
        failed |= not _prove(agent, places, status)
    _close(base, places, hooked, args.mode)
    return 1 if failed else 0


def _names(text: str) -> tuple[Agent, ...]:
    if text == "all":
        return ()
    names = tuple(name for name in AGENTS if name in text.split(","))
    unknown = [name for name in text.split(",") if name not in AGENTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(AGENTS)}")
    return names


def _manifest(path: str, dry_run: bool) -> Manifest:
    try:
        return manifest.load(path) or Manifest()
    except ReflexError as e:
        warn(e.message, e.hint)
        if not dry_run:
            os.rename(path, path + ".damaged")
            say(f"the damaged file is kept as {path}.damaged")
        return Manifest()


def _found(names: tuple[Agent, ...], places: Places) -> dict[Agent, agents.Found]:
    found: dict[Agent, agents.Found] = {}
    for name, agent in agents.find_all(places, os.environ.get("PATH", os.defpath), names or AGENTS).items():
        if agent:
            found[name] = agent
        elif names:
            warn(f"{agents.TITLES[name]} is not on this machine; it is set up all the same")
            found[name] = agents.Found(name, places.agent_home(name), "")
    missing = [agents.TITLES[name] for name in AGENTS if name not in found and not names]
    if missing:
        say(f"not found on this machine: {', '.join(missing)}")
    if not found:
        warn("no agent was found", "install one and run reflexctl setup again, or name it: --agents claude")
    return found


def _plans(
    found: dict[Agent, agents.Found], places: Places, before: Manifest
) -> tuple[tuple[plan.AgentPlan, ...], bool]:
    """The plans, and whether an agent had to be left out because one of its files cannot be edited."""
    plans: list[plan.AgentPlan] = []
    for name in found:
        try:
            plans.append(plan.plan(name, places, before))
        except ReflexError as e:
            error(f"{agents.TITLES[name]} is left as it is: {e.message}", e.hint)
    return tuple(plans), len(plans) < len(found)


def _show(steps: tuple[plan.Step, ...], plans: tuple[plan.AgentPlan, ...], places: Places, whole: bool) -> None:
    """Every change, as a whole where somebody is to say yes to it or only wants to see it."""
    for step in steps:
        if step.changes:
            print(plan.diff(step) if whole else plan.summary(step), end="")
    if not any(step.changes for step in steps):
        say("every file is as it should be")
    for agent_plan in plans:
        name = agent_plan.agent
        for gap in (*agent_plan.gaps, *(hole.text for hole in gaps.hosts(name, places.agent_home(name), os.getcwd()))):
            warn(f"{agents.TITLES[name]}: {gap}")
    for hole in gaps.environment(os.environ):
        (warn if hole.red else say)(hole.text)


def _daemon(base: str) -> Status:
    """A running daemon of this very code, as far as we may restart it."""
    if not service.is_running(base):
        say("starting the daemon ...")
        return service.start(base)
    status = Client(base).status()
    code = os.stat(reflexd.__file__).st_ctime
    if status.version == reflexd.__version__ and code < status.started:
        return status
    say("restarting the daemon, which runs older code ...")
    try:
        # By signal: the daemon wants a terminal. While it is down every call is refused, so this loosens nothing.
        service.end(base)
    except Refused as e:
        warn(f"the daemon goes on with the older code: {e.message}", "from a terminal of your own: reflexctl restart")
        return status
    return service.start(base)


def _trust(path: str, now: Manifest, codex: agents.Found, base: str) -> bool:
    say("having Codex trust the hooks ...")
    try:
        if not codex.binary:
            raise ReflexError("codex was not found", "start codex once in a terminal and accept the hooks")
        apply.trust_codex(path, now, codex.binary, codex.home, base)
    except ReflexError as e:
        error(f"CODEX DOES NOT RUN OUR HOOKS YET, so nothing guards it: {e.message}", e.hint)
        return False
    return True


def _prove(agent: agents.Found, places: Places, status: Status) -> bool:
    title = agents.TITLES[agent.name]
    proof = prove.prove(agent.name, places, agent.binary)
    if proof.holds:
        say(f"{title}: `{prove.HARMLESS}` goes on, `{prove.DANGEROUS}` is refused")
        return True
    if status.mode == "off" and not proof.trouble and not proof.harmless:
        warn(f"{title}: the hook answers, but the mode is off: nothing is refused", "reflexctl mode enforce")
        return True
    error(f"{title}: {proof.trouble or _wrong(proof)}", "reflexctl doctor says more")
    return False


def _wrong(proof: prove.Proof) -> str:
    if proof.harmless:
        return f"`{prove.HARMLESS}` is refused: {proof.harmless}"
    return f"`{prove.DANGEROUS}` goes on"


def _close(base: str, places: Places, hooked: tuple[agents.Found, ...], mode: Mode | None) -> None:
    status = Client(base).status()
    if mode and status.mode != mode:
        warn(f"the mode is {status.mode}, as it was set with reflexctl mode", f"reflexctl mode {mode}")
    if hooked:
        say(f"hooked: {', '.join(agents.TITLES[agent.name] for agent in hooked)}; mode {status.mode}")
        say("agents that are running now have to be restarted to take the hooks up")
    undo = short(os.path.join(places.share, "unhook"), base)
    say(f"to undo all of it: reflexctl uninstall (if that is ever broken: {undo})")
