"""Models: which are here, fetching one, putting one to use, measuring one.

What needs torch or the network runs in processes of its own (`engine.choose`, `engine.pull`, `engine.measure`).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
from typing import Any

import msgspec
import tomlkit

from reflexd import paths
from reflexd.client import Client
from reflexd.control import EngineStatus
from reflexd.ctl.terminal import say
from reflexd.engine import models
from reflexd.errors import ReflexError, Unreachable

EXAMPLE = "reflexctl model use ~/models/Qwen3.5-4B"
READY_S = 600.0
LOOK_S = 0.3
FAILED = 1


def arguments(parser: argparse.ArgumentParser) -> None:
    doing = parser.add_subparsers(dest="doing", required=True, metavar="list|pull|use|bench")
    one = doing.add_parser("list", help="models on this machine, and the one in use")
    _json(one)
    one = doing.add_parser("pull", help="fetch a model from the hub: the only thing that downloads")
    one.add_argument("model", metavar="OWNER/NAME")
    one.add_argument("--revision", help="a branch, tag or commit; default: the main one")
    _json(one)
    one = doing.add_parser("use", help="have the daemon run a model; without one: have it run none")
    one.add_argument("model", nargs="?", metavar="DIR|ID|FILE.gguf")
    _device(one)
    one.add_argument("--none", action="store_true", help="run no model: the gate goes on without")
    _json(one)
    one = doing.add_parser("bench", help="how fast a model answers on this machine")
    one.add_argument("model", metavar="DIR|ID|FILE.gguf")
    _device(one)
    _json(one)


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as one JSON value")


def _device(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", choices=("cuda", "mps", "cpu"), help="default: the best there is")
    parser.add_argument("--precision", choices=("float32", "bfloat16", "float16"), help="default: by device")


def run(args: argparse.Namespace) -> int:
    base = paths.home()
    match args.doing:
        case "list":
            return _list(base, args.json)
        case "pull":
            return _pull(args)
        case "use":
            return _use(base, args)
        case _:
            return _bench(args)


def _list(base: str, as_json: bool) -> int:
    here = models.models(base)
    used = str(_engine_table(_document(base), base).get("model", ""))
    if as_json:
        print(json.dumps({"in_use": used, "models": msgspec.to_builtins(here)}))
        return 0
    for model in here:
        mark = "*" if model.name == used or model.path == used else " "
        print(f"{mark} {model.bytes / 2**30:7.2f} GiB  {model.family:<14} {model.name}")
    if used and not any(used in (model.name, model.path) for model in here):
        print(f"* {'':>11}  {'':<14} {used}")
    if not here and not used:
        say(f"there are none: reflexctl model pull OWNER/NAME, or put one into {paths.models_dir(base)}")
    return 0


def _pull(args: argparse.Namespace) -> int:
    done = _child("reflexd.engine.pull", {"model": args.model, "revision": args.revision}, shown=True)
    print(json.dumps(done) if args.json else f"{done['model']} is here: {done['path']}")
    return 0


def _use(base: str, args: argparse.Namespace) -> int:
    if args.none == bool(args.model):
        raise ReflexError("say which model to use, or --none", f"for example: {EXAMPLE}")
    if args.none:
        _write(base, {})
        status = _reload(base)
        print(json.dumps(msgspec.to_builtins(status)) if args.json else "no model is in use")
        return 0
    model = os.path.abspath(args.model) if os.path.exists(args.model) else args.model
    wanted = {"model": model, "device": args.device, "precision": args.precision}
    chosen = _child("reflexd.engine.choose", wanted)
    say(f"{chosen['device']} in {chosen['precision']}: {chosen['why']}")
    say(f"needs about {chosen['needs'] / 2**30:.1f} GiB of {chosen['has'] / 2**30:.1f} GiB that are free")
    if chosen["needs"] > chosen["has"]:
        raise ReflexError(f"{args.model} does not fit", "use a smaller one, another precision, or free some memory")
    _write(base, {"model": model, "device": chosen["device"], "precision": chosen["precision"]})
    status = _reload(base, wait=model)
    if args.json:
        print(json.dumps(msgspec.to_builtins(status)))
    elif status is None:
        say("the daemon does not run; it takes the model when it starts")
    else:
        print(f"{model} is ready on {chosen['device']} in {chosen['precision']}")
    return 0


def _bench(args: argparse.Namespace) -> int:
    found = _child(
        "reflexd.engine.measure", {"model": args.model, "device": args.device, "precision": args.precision}, shown=True
    )
    if args.json:
        print(json.dumps(found))
        return 0
    print(f"{found['model']} on {found['device']} in {found['precision']}")
    print(f"three questions about a state of {found['state_tokens']} tokens:")
    for name, key in (("a new state", "new_ms"), ("a kept state", "kept_ms"), ("kept, two orders", "two_orders_ms")):
        print(f"  {name:<18} {found[key]:8.0f} ms")
    print(f"  {'tokens':<18} {found['tokens_per_s']:8.0f} /s")
    print(f"  {'loading':<18} {found['load_s']:8.1f} s")
    return 0


def _child(module: str, asked: dict[str, Any], shown: bool = False) -> dict[str, Any]:
    """What the process answers. `shown`: its stderr goes to the person as it comes. Raises ReflexError."""
    if missing := [name for name in models.LIBRARIES if importlib.util.find_spec(name) is None]:
        raise ReflexError(
            f"the engine's libraries are not installed ({', '.join(missing)})", "pip install 'reflexd[engine]'"
        )
    command = models.command(module, json.dumps(asked))
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=None if shown else subprocess.PIPE, check=False)
    if done.returncode:
        said = (done.stderr or b"").decode("utf-8", "replace").strip().split("\n")
        if shown and done.returncode == FAILED and module.endswith("pull"):
            sys.exit(FAILED)  # it has said why already
        raise ReflexError(said[-2] if len(said) > 1 else said[-1] or "it failed", said[-1] if len(said) > 1 else "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


# ---- settings -------------------------------------------------------------------------


def _document(base: str) -> tomlkit.TOMLDocument:
    try:
        with open(paths.settings_file(base), encoding="utf-8") as file:
            return tomlkit.load(file)
    except FileNotFoundError:
        return tomlkit.document()
    except (OSError, ValueError) as e:
        raise ReflexError(f"{paths.settings_file(base)} cannot be read: {e}", "mend it, then run this again") from e


def _engine_table(document: tomlkit.TOMLDocument, base: str) -> dict[str, Any]:
    found = document.get("engine", {})
    if not isinstance(found, dict):
        raise ReflexError(f"{paths.settings_file(base)}: engine has to be a table", "write it as [engine]")
    return found


def _write(base: str, engine: dict[str, str]) -> None:
    """Puts what is given into [engine], leaving all else of the file as it is; nothing given: no model."""
    document = _document(base)
    _engine_table(document, base)
    table: Any = document.setdefault("engine", tomlkit.table())
    for name in ("model", "device", "precision"):
        table.pop(name, None)
    for name, value in engine.items():
        table[name] = value
    if not table:
        document.pop("engine")
    path = paths.settings_file(base)
    paths.private_dir(paths.config_dir(base))
    making = f"{path}.new"
    try:
        with open(making, "w", encoding="utf-8") as file:
            file.write(tomlkit.dumps(document))
            file.flush()
            os.fsync(file.fileno())
        os.replace(making, path)
    except OSError as e:
        raise ReflexError(f"{path} cannot be written: {e.strerror}") from e


def _reload(base: str, wait: str = "") -> EngineStatus | None:
    """Tells the daemon, which would see it by itself a little later, and waits until the model is ready."""
    client = Client(base)
    try:
        before = client.status().engine
    except Unreachable:
        return None
    until = time.monotonic() + READY_S
    said = ""
    while time.monotonic() < until:
        engine = client.status().engine
        if not wait and engine.state == "off":
            return engine
        if wait and engine.model == wait:
            if engine.state == "ready" and (engine.starts > before.starts or before.model == wait):
                return engine
            if engine.state == "down":
                raise ReflexError(f"the engine cannot run {wait}: {engine.why}", f"see {paths.engine_log(base)}")
        if engine.state != said:
            said = engine.state
            say(f"the engine is {said}")
        time.sleep(LOOK_S)
    raise ReflexError(f"the engine is not ready after {READY_S:.0f} s", f"see {paths.engine_log(base)}")
