"""Commands that run elsewhere: another machine, a container."""

from __future__ import annotations

import re
from collections.abc import Callable

from reflexd.shell.calls import Call
from reflexd.shell.carriers import Unwrapped, commands
from reflexd.shell.fields import UNKNOWN
from reflexd.shell.hooked import prompt
from reflexd.shell.options import command_at, names, split

_SSH_VALUED = names("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B")


def _ssh(call: Call) -> Unwrapped | None:
    args = call.argv[1:]
    at = command_at(args, _SSH_VALUED)
    local = _local_commands(args[:at])
    rest, host = args[at + 1 :], " ".join(args[at : at + 1])
    rest = rest[command_at(rest, _SSH_VALUED) :]  # options may stand behind the host too
    if local:
        # Judged as what it is, on this machine; the other host's command would be denied no less.
        return Unwrapped(code=(*local, *((" ".join(rest),) if rest else ())))
    here = _THIS_MACHINE.fullmatch(host.rpartition("@")[2]) is not None
    if not rest and not call.fed:
        quiet = host.startswith("git@") or not host or not split(args[:at], _SSH_VALUED).flags.isdisjoint(_NO_SHELL)
        return None if quiet else Unwrapped(opaque=(f"ssh to {host} runs whatever is typed into it",))
    code = (" ".join(rest),) if rest else ()
    shell = () if rest else (("sh",),)
    if here:
        return Unwrapped(commands=shell, code=code, cwd="~", name="localhost")
    return Unwrapped(commands=shell, code=code, cwd=UNKNOWN, host=host)


_NO_SHELL = names("-N -f -W -V -G -O -Q -T")
_THIS_MACHINE = re.compile(
    r"(?:ssh://)?(?:localhost|127(?:\.\d+){0,3}|\[?::1\]?|0|0\.0\.0\.0|ip6-localhost)(?::\d+)?/?"
)
_RUN_HERE = re.compile(
    r"\s*(?:proxycommand|localcommand|knownhostscommand|remotecommand)(?:\s*=\s*|\s+)(?P<code>.*)", re.I | re.S
)


def _local_commands(options: tuple[str, ...]) -> tuple[str, ...]:
    """Settings of ssh and its kin that name a command for this machine."""
    found = (_RUN_HERE.match(value) for value in split(options, _SSH_VALUED).all("-o"))
    return tuple(match["code"] for match in found if match and match["code"].strip().lower() != "none")


def _copies(call: Call) -> Unwrapped | None:
    """scp and sftp: the same settings, and a program to use instead of ssh."""
    code = (*_local_commands(call.argv[1:]), *split(call.argv[1:], _SSH_VALUED | names("-P -s")).all("-S"))
    return Unwrapped(code=code) if code else prompt(call)


CONTAINER_VALUED = names(
    "-e -u -w -v -p --env --user --workdir --volume --publish --name --network --net --entrypoint --mount -m -l -h"
    " --env-file --platform --memory --cpus --label --hostname --add-host --gpus --ipc --pid --restart --cap-add"
    " --security-opt --device --tmpfs --shm-size --ulimit --dns --expose --link --userns --cidfile --log-driver -c -n"
    " --namespace --container --context --index --kubeconfig"
)


_REACHES_OUT = (
    "-v",
    "--volume",
    "--mount",
    "--volumes-from",
    "--privileged",
    "--pid",
    "--device",
    "--cap-add",
    "--ipc",
)


def _container(call: Call) -> Unwrapped | None:
    """docker|podman|kubectl exec and run: the words after the container's (or image's) name."""
    args = call.argv[1:]
    verb = next((i for i, word in enumerate(args) if word in ("exec", "run")), None)
    if verb is None or any(word in ("build", "logs", "ps", "images") for word in args[:verb]):
        return None
    rest = args[verb + 1 :]
    if call.name in ("kubectl", "oc"):
        if "--" in rest or args[verb] == "run":
            return commands(rest[rest.index("--") + 1 :]) if "--" in rest else None
        return commands(rest[command_at(rest, CONTAINER_VALUED) + 1 :])
    at = command_at(rest, CONTAINER_VALUED)
    shared = mounts(rest[:at])
    entry = split(rest[:at], CONTAINER_VALUED).value("--entrypoint")
    words = (*((entry,) if entry else ()), *rest[at + 1 :])
    if not words:
        return None
    given = split(rest[:at], CONTAINER_VALUED)
    inside = args[verb] == "run" and verb == 0 and not any(given.has(name) for name in _REACHES_OUT)
    workdir = given.value("-w", "--workdir")
    there = _mounted(workdir, shared) if workdir else ""
    cwd = there if there != workdir else UNKNOWN
    return Unwrapped(commands=(tuple(_mounted(word, shared) for word in words),), cwd=cwd, inside=inside)


def mounts(options: tuple[str, ...]) -> list[tuple[str, str]]:
    """Directories of the machine and where a container sees them."""
    given = split(options, CONTAINER_VALUED)
    found = [tuple(value.split(":")[:2]) for value in given.all("-v", "--volume") if ":" in value]
    for value in given.all("--mount"):
        parts = dict(part.partition("=")[::2] for part in value.split(","))
        source = parts.get("source") or parts.get("src")
        target = parts.get("target") or parts.get("destination") or parts.get("dst")
        if source and target:
            found.append((source, target))
    return [(pair[0], pair[1]) for pair in found if pair[0][:1] in "/.~"]


def _mounted(word: str, mounts: list[tuple[str, str]]) -> str:
    for source, target in mounts:
        if word == target or word.startswith(target.rstrip("/") + "/"):
            return (source.rstrip("/") + word[len(target.rstrip("/")) :]) or "/"
        if " " in word and target in word:
            return re.sub(rf"(?<![\w/.]){re.escape(target)}(?=[/\s;&|*]|\Z)", source.rstrip("/") or "/", word)
    return word


SPECIAL: dict[str, Callable[[Call], Unwrapped | None]] = {
    "ssh": _ssh,
    "autossh": _ssh,
    **dict.fromkeys(("scp", "sftp"), _copies),
    **dict.fromkeys(("docker", "docker-compose", "podman", "podman-compose", "nerdctl", "kubectl", "oc"), _container),
}
