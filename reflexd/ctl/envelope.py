"""Bounds for what agents may touch, in a person's words: a judge is asked whether a call keeps within them."""

from __future__ import annotations

import argparse
import os
import time

import msgspec

from reflexd import paths
from reflexd.client import Client
from reflexd.control import EnvelopeHeld, EnvelopeRequest
from reflexd.ctl.mode import duration
from reflexd.ctl.rows import printable
from reflexd.ctl.terminal import say
from reflexd.errors import ReflexError

EXAMPLE = 'reflexctl envelope set "only docs/ and the staging cluster" --cwd . --ttl 2h'


def arguments(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(dest="what", metavar="WHAT", required=True, help="set, show or clear")
    put = kinds.add_parser("set", help="say what a task may touch", epilog=f"example: {EXAMPLE}", allow_abbrev=False)
    put.add_argument("terms", metavar="TEXT", help="what may be touched, and what may not")
    put.add_argument("--ttl", type=duration, default=0, metavar="TIME", help="30m, 2h, 1d (until it is changed)")
    show = kinds.add_parser("show", help="what holds", epilog="example: reflexctl envelope show", allow_abbrev=False)
    show.add_argument("--json", action="store_true", help="one JSON object")
    clear = kinds.add_parser("clear", help="end one", epilog="example: reflexctl envelope clear --cwd .")
    for one in (put, clear):
        where = one.add_mutually_exclusive_group()
        where.add_argument("--cwd", default=".", metavar="DIR", help="for calls in and below this directory (.)")
        where.add_argument("--session", default="", metavar="ID", help="for one session: claude:<id>, as log shows it")
    for one in (put, show, clear):
        one.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    client = Client(paths.home())
    if args.what == "show":
        found = client.envelopes()
        if args.json:
            print(msgspec.json.encode(found).decode())
        for each in () if args.json else found.held:
            print(_line(each))
        if not found.held and not args.json:
            say("no envelope is set")
        return 0
    holder = args.session or os.path.realpath(args.cwd)
    terms = args.terms.strip() if args.what == "set" else ""
    if args.what == "set" and not terms:
        raise ReflexError("an envelope says something", f"for example: {EXAMPLE}")
    client.envelope(EnvelopeRequest(holder, terms, args.ttl if terms else 0))
    say(f"envelope {'set' if terms else 'cleared'} for {holder}")
    return 0


def _line(each: EnvelopeHeld) -> str:
    home = paths.home()
    inside = each.holder.startswith(home + "/")
    holder = "~" + each.holder[len(home) :] if inside else each.holder
    until = time.strftime(" until %Y-%m-%d %H:%M", time.localtime(each.until)) if each.until else ""
    return printable(f"{holder}{until}: {each.terms}")
