"""URLs: the host that one really names, and whether a cloud's machines are told their own keys there."""

from __future__ import annotations

import functools
import ipaddress
import re
import unicodedata
from urllib.parse import unquote

from msgspec import Struct

from reflexd.shell.tables import table

_AUTHORITY = re.compile(r"\s*(?:[A-Za-z][A-Za-z0-9+.-]*:)?[/\\]{2,}([^/\\?#]*)")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")
_WRITTEN_OUT = re.compile(r"(?<![0-9])(\d{1,3})[.-](\d{1,3})[.-](\d{1,3})[.-](\d{1,3})(?![0-9])")


class _Metadata(Struct, frozen=True, forbid_unknown_fields=True):
    networks: tuple[str, ...]
    names: tuple[str, ...]


class _Data(Struct, frozen=True, forbid_unknown_fields=True):
    hosts: int
    metadata: _Metadata


@functools.cache
def data() -> _Data:
    return table("hosts.toml", _Data)


def host(url: str) -> str:
    """The host of a URL as a client would take it, in lower case and without port; empty where it names none."""
    found = _AUTHORITY.match(unicodedata.normalize("NFKC", url))
    if found is None:
        return ""
    name = unquote(found[1].rpartition("@")[2]).lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.partition(":")[0].replace("。", ".").rstrip(".")


def is_metadata(name: str) -> bool:
    """Whether a host is where a cloud's machines are told their keys, by name or by address in any spelling."""
    known = data().metadata
    if name in known.names:
        return True
    address = _address(name)
    if address is not None:
        return any(address in network for network in _networks() if network.version == address.version)
    # Names made to resolve to the address that they hold: 169.254.169.254.nip.example.
    held = _WRITTEN_OUT.search(name)
    inner = _address(".".join(str(int(part)) for part in held.groups())) if held else None
    return inner is not None and any(inner in network for network in _networks() if network.version == 4)


@functools.cache
def _networks() -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    return tuple(ipaddress.ip_network(each) for each in data().metadata.networks)


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Numbers as the C library reads them: one to four, in any base, the last filling what is left."""
    if ":" in name:
        try:
            found = ipaddress.IPv6Address(name.partition("%")[0])
        except ValueError:
            return None
        return found.ipv4_mapped or found.sixtofour or found
    parts = name.split(".")
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    try:
        *heads, last = (
            int(part, 16) if part[:2] in ("0x", "0X") else int(part, 8 if part[0] == "0" else 10) for part in parts
        )
    except ValueError:
        return None
    if any(head > 255 for head in heads) or last >= 256 ** (4 - len(heads)):
        return None
    value = last
    for at, head in enumerate(heads):
        value += head << (24 - 8 * at)
    return ipaddress.IPv4Address(value)


def _number(part: str) -> int:
    if part[:2] in ("0x", "0X"):
        return int(part[2:] or "0", 16)
    return int(part, 8 if part[0] == "0" else 10)
