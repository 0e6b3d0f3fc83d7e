from __future__ import annotations

import argparse
import os
import re
from typing import get_args

from reflexd import paths
from reflexd.client import Client
from reflexd.control import ModeRequest
from reflexd.ctl.terminal import say
from reflexd.types import Mode

EXAMPLE = "reflexctl mode shadow --for 2h --cwd ."
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("mode", choices=get_args(Mode), help="off: judge nothing; shadow: only rules hold; enforce")
    parser.add_argument("--for", dest="seconds", type=duration, default=0, metavar="TIME", help="30m, 2h, 1d")
    parser.add_argument("--cwd", default="", metavar="DIR", help="only for calls in and below this directory")


def run(args: argparse.Namespace) -> int:
    cwd = os.path.realpath(args.cwd) if args.cwd else ""
    Client(paths.home()).mode(ModeRequest(args.mode, args.seconds, cwd))
    where = f" in {cwd}" if cwd else ""
    say(f"mode {args.mode}{where}" + (f" for {args.seconds} s" if args.seconds else ""))
    return 0


def duration(text: str) -> int:
    found = re.fullmatch(r"([1-9][0-9]{0,6})([smhd])", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time like 30m, 2h or 1d")
    return int(found[1]) * _UNITS[found[2]]
