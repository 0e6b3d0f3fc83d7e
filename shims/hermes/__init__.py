# reflex-shim @VERSION@ (installed by `reflexctl setup`; `reflexctl uninstall` takes it out)
"""Asks reflexd before every tool call of Hermes.

What holds: a tool runs only after a complete answer that says so; anything else, a bug in here
included, returns the block that Hermes honours (a dict with a message: without one it is ignored).
What is not covered: Hermes goes on without a plugin that it does not load (--safe-mode,
--ignore-user-config, a broken configuration). No variable of the environment is read.
"""

import json
import os
import socket
import stat
import struct
import sys
import time
from importlib import import_module

RUN_DIR = "@RUN_DIR@"
SOCKET = "@SOCKET@"
UID = "@UID@"
DEADLINE_MS = "@DEADLINE_MS@"
HINT = "@HINT@"
TOLD_MS = 1000
WORDS_MAX = 10000
ANSWERS_MAX = 64
CAP = 8 * 1024 * 1024
TOLD = (
    "post_tool_call",
    "on_session_start",
    "on_session_end",
    "on_session_finalize",
    "subagent_start",
    "subagent_stop",
)


words = {}
"""What the model said, by the id of the request that it answered. The daemon cuts it further, secrets masked."""


class Trouble(Exception):
    """Why no answer could be had."""


def register(ctx):
    ctx.register_hook("pre_tool_call", before)
    ctx.register_hook("post_api_request", heard)
    ctx.register_hook("pre_llm_call", prompted)
    for name in TOLD:
        ctx.register_hook(name, teller(name))


def before(**facts):
    try:
        code, out, err = carry("pre_tool_call", facts, DEADLINE_MS)
        if code == 0 and not out:
            return None
        if code == 0:
            said = json.loads(out)
            if isinstance(said, dict) and said.get("action") == "approve" and said.get("message"):
                return said
            raise Trouble("the daemon's answer was not one of an event like this")
        if code == 2:
            return block(err.decode("utf-8", "replace").strip() or "reflex: refused without a reason")
        raise Trouble("the daemon's answer was not one of an event like this")
    except Trouble as e:
        why = str(e)
    except (FileNotFoundError, ConnectionRefusedError):
        why = "the daemon is not running"
    except TimeoutError:
        why = "the daemon did not answer in time"
    except Exception as e:
        # Hermes runs the tool when a hook raises, so nothing may get past here.
        why = f"the daemon could not be asked ({type(e).__name__})"
    return block(f"reflex: {why}; {os.fsdecode(HINT)}")


def heard(**facts):
    try:
        while len(words) >= ANSWERS_MAX:
            words.pop(next(iter(words)), None)
        words[facts["api_request_id"]] = str(facts["assistant_message"].content or "")[:WORDS_MAX]
    except Exception:
        # What was said is worth less than the session.
        return


def prompted(**facts):
    """What the daemon wants put before the model with a prompt; a failure adds nothing."""
    try:
        code, out, _ = carry("pre_llm_call", facts, DEADLINE_MS)
        said = json.loads(out) if code == 0 and out else {}
        return {"context": said["context"]} if isinstance(said.get("context"), str) else None
    except Exception:
        return None


def block(message):
    return {"action": "block", "message": message}


def teller(name):
    def tell(**facts):
        try:
            carry(name, facts, TOLD_MS)
        except Exception:
            # Nothing waits for this event, and a failing observer must not stop a session.
            return

    return tell


def carry(event, facts, deadline_ms):
    """(exit, stdout, stderr) of a complete, well-formed answer inside the deadline; raises otherwise."""
    end = time.monotonic() + deadline_ms / 1000
    message = {"event": event, "cwd": directory(facts), "payload": facts, "intent": intent(facts)}
    body = json.dumps(message, default=repr).encode("utf-8", "backslashreplace")
    if len(body) > CAP:
        raise Trouble("the event is larger than 8 MiB")
    check(RUN_DIR, stat.S_ISDIR, "the socket's directory")
    check(SOCKET, stat.S_ISSOCK, "the socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        peer.settimeout(left(end))
        peer.connect(os.fsdecode(SOCKET))
        if sys.platform == "darwin":
            uid = struct.unpack("2I", peer.getsockopt(0, 1, 76)[:8])[1]
        else:
            uid = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
        if uid != UID:
            raise Trouble("another user answers on the socket")
        peer.settimeout(left(end))
        peer.sendall(b"RFX1 hermes %s %d %d\n" % (event.encode(), deadline_ms, len(body)) + body)
        data = b""
        while True:
            peer.settimeout(left(end))
            part = peer.recv(1 << 20)
            if not part:
                return decode(data)
            data += part
            if len(data) > CAP + 128:
                raise Trouble("the daemon's answer was garbled")


def intent(facts):
    try:
        return words.get(facts.get("api_request_id"), "")
    except Exception:
        return ""


def directory(facts):
    """Where Hermes will run this call. A `cd` outlives its call there, while the process stays where it
    is: judged by the process's directory, `cd ~` and then `rm -rf ./*` would be a clean-up of the project.
    The order of the places is Hermes' own (0.19.0: terminal_tool, file_tools). "" is "not known", by which
    the daemon trusts no relative path: what an already running process makes of its input, or a Hermes
    that keeps this elsewhere."""
    tool, task = facts.get("tool_name"), facts.get("task_id") or ""
    try:
        if tool == "process":
            return ""
        if tool != "terminal":
            return str(import_module("tools.file_tools")._resolve_base_dir(task or "default"))
        terminal, approval = import_module("tools.terminal_tool"), import_module("tools.approval")
        found = (
            terminal.get_session_cwd(approval.get_current_session_key(default="") or task)
            or terminal.resolve_task_overrides(task).get("cwd")
            or terminal.get_session_cwd(task)
            or terminal._get_env_config()["cwd"]
        )
        return os.path.abspath(os.path.expanduser(found))
    except Exception:
        return ""


def left(end):
    seconds = end - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


def check(path, is_right, what):
    found = os.lstat(path)
    if not is_right(found.st_mode) or found.st_uid != UID or found.st_mode & 0o077:
        raise Trouble(what + " is not a private one of yours")


def decode(data):
    head, newline, body = data.partition(b"\n")
    words = head.split(b" ")
    if not newline or len(words) != 4 or words[0] != b"RFX1":
        raise Trouble("the daemon's answer was garbled")
    if not all(w.isdigit() and len(w) < 9 and (w == b"0" or w[0] != 48) for w in words[1:]):
        raise Trouble("the daemon's answer was garbled")
    code, out, err = (int(w) for w in words[1:])
    if len(body) != out + err:
        raise Trouble("the daemon's answer was garbled")
    return code, body[:out], body[out:]
