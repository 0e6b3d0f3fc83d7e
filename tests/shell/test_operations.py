"""What services, clouds and the machine would lose or get: operations.jsonl, one call a line.

`effects` are the kinds of effect that are not about files, each with its places; `read_only` whether it is proved
that the call only looks.
"""

from __future__ import annotations

import json
import re
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from reflexd.core.facts import facts
from reflexd.shell.realms import data
from reflexd.types import Context, Effect, Shell

CASES = [json.loads(line) for line in Path(__file__).with_name("operations.jsonl").read_text().splitlines()]
KINDS = {"destroy", "change", "control", "install", "send", "push"}
FILE_PLACES = {"workspace", "workspace_root", "home_inner", "home_entry", "disposable", "dotenv"}


def shown(effect: Effect) -> str:
    return f"{effect.kind}:{'+'.join(place for place in effect.places if place not in FILE_PLACES)}"


@pytest.mark.parametrize("case", CASES, ids=[case["command"][:60] for case in CASES])
def test_a_call_does_what_its_line_says(case: dict[str, Any]) -> None:
    context = Context(cwd=case.get("cwd", "/home/dev/proj"), home="/home/dev", env=tuple(case.get("env", {}).items()))
    found = facts(Shell(case["command"]), context)
    reads = [effect for effect in found.effects if effect.kind == "read" and "credentials" in effect.places]
    others = [effect for effect in found.effects if effect.kind in KINDS]
    assert sorted({shown(effect) for effect in (*others, *reads)}) == case["effects"]
    assert found.read_only is case["read_only"]


def test_there_is_a_case_of_every_family() -> None:
    programs_tried = {word for case in CASES for word in case["command"].split()}
    for family in (
        "gh",
        "docker",
        "kubectl",
        "terraform",
        "aws",
        "systemctl",
        "apt-get",
        "curl",
        "rsync",
        "vault",
        "zfs",
    ):
        assert family in programs_tried


@pytest.mark.parametrize(
    "command",
    [
        "kubectl delete ns web --dry-run=client",
        "helm uninstall web --dry-run",
        "terraform destroy -help",
        "gh repo delete --help",
        "aws ec2 terminate-instances --dry-run",
        "docker compose --dry-run down -v",
    ],
)
def test_an_option_that_nobody_described_takes_away_that_nothing_is_done(command: str) -> None:
    context = Context(cwd="/home/dev/proj", home="/home/dev")
    assert not [e for e in facts(Shell(command), context).effects if e.kind in KINDS]
    program, _, rest = command.partition(" ")
    odd = f"{program} --not-described {rest}"
    assert [e.kind for e in facts(Shell(odd), context).effects if e.kind in KINDS] == ["destroy"]
    assert [e.kind for e in facts(Shell(f"{command} --not-described"), context).effects if e.kind in KINDS]


PLAIN = [
    case
    for case in CASES
    if not re.search(
        r"[|;&<>$\n]|^[A-Z_]+=|^(sudo|cd|ssh|sshpass|fab|mosh|heroku run) |output -raw|compute ssh", case["command"]
    )
]


@pytest.mark.parametrize("case", PLAIN, ids=[case["command"][:60] for case in PLAIN])
def test_an_option_that_nobody_described_hides_nothing(case: dict[str, Any]) -> None:
    """Its value may stand where the subcommand, the method or the target is looked for."""
    grave = {shown.partition(":")[0] for shown in case["effects"]} & {"destroy", "control", "install"}
    program, _, rest = case["command"].partition(" ")
    context = Context(cwd=case.get("cwd", "/home/dev/proj"), home="/home/dev", env=tuple(case.get("env", {}).items()))
    for odd in (f"{program} --not-described v {rest}", f"{program} {rest} --not-described v"):
        assert grave <= {effect.kind for effect in facts(Shell(odd), context).effects}, odd


def test_every_row_names_a_realm_that_is_described() -> None:
    files = [
        file for file in resources.files("reflexd.config").joinpath("programs").iterdir() if file.name[-5:] == ".toml"
    ]
    rows = [row for file in files for row in tomllib.loads(file.read_text()).get("rows", {}).values()]
    assert len(rows) > 500
    assert {row["realm"] for row in rows if row.get("realm")} <= data().realm.keys()
