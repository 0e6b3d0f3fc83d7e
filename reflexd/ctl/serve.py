"""Becomes the engine's own process: nothing of torch is imported here."""

from __future__ import annotations

import argparse
import importlib.util
import ipaddress
import json
import os
import sys
import tomllib
from importlib import resources
from typing import Any

from reflexd.engine import models
from reflexd.errors import ReflexError

EXAMPLE = "reflexctl serve --model Qwen/Qwen3.5-0.8B --confidence margin"

KEY = "REFLEX_API_KEY"
DANGER = "dangerously_serve_the_network"
CHOICES = {
    "device": ("cuda", "mps", "cpu"),
    "precision": ("float32", "bfloat16", "float16"),
    "confidence": ("entropy", "margin"),
    "style": ("markdown", "compact"),
}
PORT, HOST = 8377, "127.0.0.1"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Defaults are all None, so that what was said can be told from what was not."""
    parser.add_argument("--model", metavar="DIR|ID|FILE.gguf", help="a model that is on this machine")
    parser.add_argument("--device", choices=CHOICES["device"], help="default: the best there is")
    parser.add_argument("--precision", choices=CHOICES["precision"], help="default: by device")
    parser.add_argument("--port", type=int, metavar="P", help=f"default {PORT}; 0 takes any that is free")
    parser.add_argument("--host", metavar="H", help=f"default {HOST}")
    parser.add_argument(
        "--dangerously-serve-the-network",
        action="store_true",
        help="allow a --host that other machines reach; key and texts go over the wire in the clear",
    )
    parser.add_argument("--api-key", metavar="K", help=f"better in {KEY}, where ps does not show it")
    parser.add_argument("--confidence", choices=CHOICES["confidence"], help="which one replies call so")
    parser.add_argument("--orders", type=int, metavar="N", help="orders of the options per question, 1 to 8; default 2")
    parser.add_argument("--style", choices=CHOICES["style"], help="of the prompt; default markdown")
    parser.add_argument("--prompt", metavar="FILE", help="wording of your own")
    parser.add_argument("--calibration", metavar="FILE", help="made by reflexctl calibrate for this very setting")
    parser.add_argument("--adapter", metavar="DIR", help="a LoRA adapter, merged while loading")
    parser.add_argument(
        "--require-fast-kernels", action="store_true", default=None, help="refuse to start where a kernel fell back"
    )
    parser.add_argument(
        "--image-root",
        action="append",
        dest="image_roots",
        metavar="DIR",
        help="requests may name images below it by path; may be given again",
    )
    parser.add_argument("--stable", action="store_true", help="the setting that was chosen and measured; flags win")


def run(args: argparse.Namespace) -> int:
    said = settled(vars(args), stable() if args.stable else {})
    if "model" not in said:
        raise ReflexError("there is no model to serve", "give --model, or --stable for the chosen one")
    check(said, getattr(args, DANGER))
    missing = [name for name in models.LIBRARIES if importlib.util.find_spec(name) is None]
    if missing:
        raise ReflexError(
            f"the engine's libraries are not installed ({', '.join(missing)})", "pip install 'reflexd[engine]'"
        )
    environ = dict(os.environ)
    if args.api_key is not None:
        environ[KEY] = args.api_key
    sys.stdout.flush()
    sys.stderr.flush()
    # The new process has neither the key nor this command line in its arguments.
    os.execve(sys.executable, models.command("reflexd.engine.serve", json.dumps(said)), environ)  # noqa: S606


def settled(flags: dict[str, Any], manifest: dict[str, Any]) -> dict[str, Any]:
    """A flag that was given wins, also where it says what is the default anyway."""
    names = (
        "model",
        "host",
        "port",
        "orders",
        "prompt",
        "calibration",
        "adapter",
        "require_fast_kernels",
        "image_roots",
    )
    return manifest | {name: flags[name] for name in (*names, *CHOICES) if flags.get(name) is not None}


def check(said: dict[str, Any], network: bool) -> None:
    """Raises ReflexError for what can be told to be wrong before a model is loaded."""
    if not 0 <= said.get("port", PORT) <= 65535:
        raise ReflexError("--port has to be from 0 to 65535")
    if not 1 <= said.get("orders", 1) <= 8:
        raise ReflexError("--orders has to be from 1 to 8")
    host = said.get("host", HOST)
    if not _is_loopback(host) and not network:
        raise ReflexError(
            f"{host} is reachable from other machines: whoever has the key may ask, and reads along in the clear",
            "leave --host out, or give --dangerously-serve-the-network if you mean it",
        )
    for name in ("prompt", "calibration", "adapter"):
        if name in said and not os.path.exists(said[name]):
            raise ReflexError(f"--{name}: there is no {said[name]}")
    model = said["model"]
    is_path = model.startswith((".", "/", "~")) or model.endswith(".gguf")
    if is_path and not os.path.exists(os.path.expanduser(model)):
        raise ReflexError(f"there is no model at {model}", "reflexctl model list shows what is on this machine")


def stable() -> dict[str, Any]:
    """The serving manifest, as far as serving needs it."""
    text = resources.files("reflexd.config").joinpath("serving", "stable.toml").read_text(encoding="utf-8")
    serving: dict[str, Any] = tomllib.loads(text)["serving"]
    return serving


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
