"""docker, podman, nerdctl: what their subcommands do by their rows, and containers that reach into the machine."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reflexd.shell.arguments import parse
from reflexd.shell.calls import Call
from reflexd.shell.fields import UNKNOWN, shown
from reflexd.shell.hosts import CONTAINER_VALUED, mounts
from reflexd.shell.operations import by_row, operation
from reflexd.shell.options import names, split
from reflexd.shell.places import Ground
from reflexd.shell.programs import find_row
from reflexd.shell.web import ENGINE_SOCKET
from reflexd.types import Effect

_STARTS = names("run create exec")
_NAMESPACES = ("--pid", "--ipc", "--uts", "--userns", "--cgroupns")
_CAPABLE = re.compile(
    r"(?:CAP_)?(?:ALL|SYS_ADMIN|SYS_PTRACE|SYS_MODULE|SYS_RAWIO|SYS_BOOT|DAC_READ_SEARCH|DAC_OVERRIDE|BPF|NET_ADMIN)\Z",
    re.IGNORECASE,
)
_UNCONFINED = re.compile(r"(?:seccomp|apparmor)[=:]unconfined\Z|label[=:]disable\Z|systempaths=unconfined\Z")
_TOO_MUCH = frozenset({"root", "home", "system_whole", "device"})


def _engine(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    found = operation(call, call.name, ground)
    if found is None:
        row = find_row(call.name)
        assert row is not None
        found = by_row(call, call.name, row, parse(call.argv[1:], row), ground)
    reaching = list(_reaching(call, ground))
    return [*found[0], *reaching], found[1] and not reaching


def _reaching(call: Call, ground: Ground) -> Iterator[Effect]:
    """What a container is given of the machine that lets it act on all of it."""
    args = call.argv[1:]
    verb = next((i for i, word in enumerate(args) if word in _STARTS), None)
    if verb is None or "compose" in args[:verb]:
        return
    # Where the options end cannot be told for certain, and the words of the container's own command seldom look so.
    options = args[verb + 1 :]
    words = split(options, CONTAINER_VALUED)
    reasons = []
    if "--privileged" in options or any(word.startswith("--privileged=") and word[13:] != "false" for word in options):
        reasons.append("--privileged")
    reasons.extend(f"{name}={value}" for name, value in words.values if name in _NAMESPACES and value == "host")
    reasons.extend(f"{name}={value}" for name, value in words.values if name == "--cap-add" and _CAPABLE.match(value))
    reasons.extend(value for value in words.all("--security-opt") if _UNCONFINED.search(value))
    reasons.extend(f"--device {value.partition(':')[0]}" for value in words.all("--device") if _disk(value, ground))
    for source, _ in mounts(options):
        path, places = ground.locate(source, call.cwd, deep=True)
        if ENGINE_SOCKET.search(path) or not _TOO_MUCH.isdisjoint(places) or UNKNOWN in source:
            reasons.append(f"-v {path}")
        elif "credentials" in places:
            yield Effect("read", path, places, recursive=True, detail=f"{call.name} -v")
    for reason in dict.fromkeys(map(shown, reasons)):
        yield Effect("control", f"{call.name} {args[verb]} {reason}", ("system",), detail=reason.partition("=")[0])


def _disk(value: str, ground: Ground) -> bool:
    return "device" in ground.locate(value.partition(":")[0], "/")[1]


SPECIAL = dict.fromkeys(("docker", "podman", "nerdctl"), _engine)
