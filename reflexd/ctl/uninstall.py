"""Hooks out first, then the daemon, then our own files: no agent is ever left with a hook and no daemon."""

from __future__ import annotations

import argparse
import os
import shutil
import sys

import msgspec

from reflexd import paths
from reflexd.ctl import service
from reflexd.ctl.terminal import confirm, error, say, short, warn
from reflexd.errors import ReflexError, Refused
from reflexd.setup import agents, manifest, remove, unhook
from reflexd.setup.manifest import Manifest
from reflexd.types import Places

EXAMPLE = "reflexctl uninstall --keep-state"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--keep-state", action="store_true", help="leave the journal and what else reflex remembers")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(args: argparse.Namespace) -> int:
    if agent := unhook.agent_above():
        raise ReflexError(f"this runs under {agent}, and only a person takes reflex out", "use a terminal of your own")
    base = paths.home()
    path = paths.manifest_file(base)
    found = manifest.load(path)
    if found is None:
        say("nothing is installed here")
        return 0
    places = _places(base, found)
    names = ", ".join(agents.TITLES[record.name] for record in found.agents) or "no agent"
    say(f"takes the hooks out of {names}, stops the daemon, removes the program")
    say("the journal stays" if args.keep_state else "the journal and all that reflex remembers are removed")
    if not args.yes and not confirm("go on?"):
        say("nothing has been changed")
        return 1
    if _unhook(found, places):
        error("not everything could be put back; the rest of reflex stays until it is", "see above, then try again")
        return 1
    _stop(base)
    for line in remove.own_files(found):
        warn(line[2:]) if line.startswith("! ") else print(line)
    os.unlink(path)
    if not args.keep_state:
        _remove_state(places.state)
    _remove_program(base, places)
    remove.directories(found)
    left = [short(d, base) for d in (places.config, places.state, places.share) if os.path.isdir(d)]
    say("done" + (f"; left: {', '.join(left)}" if left else ", nothing is left"))
    return 0


def _places(base: str, found: Manifest) -> Places:
    """As they were at setup: an agent's directory may be named by a variable that is not set here."""
    places = paths.places(base, dict(os.environ))
    homes = dict(places.agent_homes) | {record.name: record.home for record in found.agents}
    return msgspec.structs.replace(places, agent_homes=tuple(homes.items()))


def _unhook(found: Manifest, places: Places) -> bool:
    """Whether something could not be put back."""
    failed = False
    for line in remove.agents_files(found, places):
        if line.startswith("! "):
            failed = True
            error(line[2:])
        else:
            print(line)
    return failed


def _stop(base: str) -> None:
    if service.is_running(base):
        say("stopping the daemon ...")
        try:
            service.stop(base)
        except Refused:
            # It wants a terminal. No hook asks it any more, so that ending it loosens nothing.
            service.end(base)


def _remove_state(state: str) -> None:
    """The files that reflex makes there, by name; anything else stays, and its directory with it."""
    for directory in ("run", "journal"):
        shutil.rmtree(os.path.join(state, directory), ignore_errors=True)
    for name in os.listdir(state) if os.path.isdir(state) else ():
        if name in ("reflexd.log",) or name.startswith(("reflex.db", "bug-")):
            os.unlink(os.path.join(state, name))
    _rmdir(state)


def _remove_program(base: str, places: Places) -> None:
    """The virtual environment that setup/install.sh made, and the links into it. Nothing may be imported afterwards."""
    venv = os.path.join(places.share, "venv")
    for name in ("reflexctl", "reflexd"):
        link = os.path.join(base, ".local", "bin", name)
        if os.path.islink(link) and os.readlink(link).startswith(venv + os.sep):
            os.unlink(link)
    if os.path.exists(os.path.join(venv, "pyvenv.cfg")):
        shutil.rmtree(venv)
    elif not sys.prefix.startswith(places.share):
        say(f"the program itself stays where it was installed: {sys.prefix}")
    _rmdir(os.path.join(places.share, "shims"))
    _rmdir(os.path.join(places.share, "bin"))
    _rmdir(places.share)


def _rmdir(path: str) -> None:
    try:
        os.rmdir(path)
    except OSError:
        return
