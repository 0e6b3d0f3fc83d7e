"""kubectl and its kin: what is deleted comes back or does not, and which reading shows keys; the rest is in the rows.

Only looking at a cluster is proved for a kubeconfig that has been looked at and starts no program to log in.
"""

from __future__ import annotations

import msgspec

from reflexd.shell.arguments import Parsed, parse
from reflexd.shell.calls import Call
from reflexd.shell.fields import shown
from reflexd.shell.operands import effect
from reflexd.shell.operations import by_row, operation
from reflexd.shell.options import names
from reflexd.shell.places import Ground
from reflexd.shell.programs import Row, find_row
from reflexd.shell.realms import places
from reflexd.shell.targets import cluster
from reflexd.types import Effect

_VERBS = names("get delete cp exec attach")
_REPLACED = names("po pod pods job jobs job.batch jobs.batch rs replicaset replicasets event events ev lease leases")
"""What a controller makes again."""
_HOLDERS = names(
    "ns namespace namespaces pvc pv persistentvolumeclaim persistentvolumeclaims persistentvolume persistentvolumes crd"
    " crds customresourcedefinition customresourcedefinitions all secret secrets sts statefulset statefulsets"
)
"""What holds data, or everything else."""
_SECRETS = names("secret secrets secret.v1 secrets.v1 sealedsecret sealedsecrets")
_PLAIN_OUTPUTS = ("name", "wide")
_BULK = names("--all -l --selector --field-selector -A --all-namespaces -f --filename -k --kustomize --raw")


def _kubectl(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    row = find_row("kubectl get")
    assert row is not None
    parsed = parse(call.argv[1:], row)
    at = next((at for at, word in enumerate(parsed.operands) if not parsed.strange or word in _VERBS), 0)
    verb, rest = parsed.operands[at : at + 1], parsed.operands[at + 1 :]
    found, looks = operation(call, call.name, ground) or ([], False)
    match verb:
        case ("get",) if _shows_secrets(parsed, rest):
            found = [*found, Effect("read", f"kubectl get {_shown(rest)}", ("elsewhere", "credentials"), detail="get")]
        case ("delete",) if _comes_back(parsed, rest, found):
            found = [msgspec.structs.replace(made, kind="change") if made.kind == "destroy" else made for made in found]
        case ("cp",) if not parsed.strange:
            found, looks = _copied(call, row, found, rest, ground), False
        case ("exec",) | ("attach",):
            where = places("kube", call, Parsed(parsed.flags, parsed.values, rest, False), ground)
            found, looks = [*found, Effect("connect", f"kubectl exec {_shown(rest[:1])}", where, detail="exec")], False
        case _:
            pass
    return found, looks and not found and _logs_in(call, parsed, ground)


def _driver(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    """Another program that takes its cluster from a kubeconfig."""
    row = find_row(call.name)
    assert row is not None
    parsed = parse(call.argv[1:], row)
    found, looks = operation(call, call.name, ground) or by_row(call, call.name, row, parsed, ground)
    return found, looks and _logs_in(call, parsed, ground)


def _logs_in(call: Call, parsed: Parsed, ground: Ground) -> bool:
    """Whether it is known that no program is started to log in: a kubeconfig may name one."""
    return cluster(call, parsed, ground).starts == ""


def _comes_back(parsed: Parsed, rest: tuple[str, ...], found: list[Effect]) -> bool:
    """Whether what is deleted is made again: by its controller, or from its file on a cluster of this machine."""
    if parsed.strange:
        return False
    kinds = _resources(rest) if rest else set()
    if any("service" in made.places for made in found):
        return kinds.isdisjoint(_HOLDERS) and not parsed.has(frozenset({"--all", "-A", "--all-namespaces", "--raw"}))
    return bool(rest) and kinds <= _REPLACED and not parsed.has(_BULK)


def _resources(words: tuple[str, ...]) -> set[str]:
    """The kinds that the operands name: `pod a b`, `pod/a svc/b`, `pods,services`."""
    if any("/" in word for word in words):
        return {word.partition("/")[0].lower() for word in words}
    return {shown(kind).lower() for kind in words[0].split(",")}


def _shows_secrets(parsed: Parsed, rest: tuple[str, ...]) -> bool:
    raw = [value for name, value in parsed.values if name == "--raw"]
    if any("/secrets" in path for path in raw):
        return True
    outputs = [value for name, value in parsed.values if name in ("-o", "--output", "--template")]
    printed = [output for output in outputs if output.lstrip("=") not in _PLAIN_OUTPUTS]
    if not rest or not printed:
        return False
    named = set().union(*map(_resources, ((word,) for word in rest))) if parsed.strange else _resources(rest)
    return not _SECRETS.isdisjoint(named)


def _copied(call: Call, row: Row, found: list[Effect], rest: tuple[str, ...], ground: Ground) -> list[Effect]:
    """Into a pod it changes what runs there; out of one it writes here."""
    if len(rest) < 2:
        return found
    here = [word for word in rest[:2] if ":" not in word]
    into = ":" in rest[1]
    made = [effect("read" if into else "write", word, call, ground, deep=into, detail="kubectl cp") for word in here]
    return [*(each for each in made if each), *(found if into else ())]


def _shown(words: tuple[str, ...]) -> str:
    return " ".join(map(shown, words[:4]))


SPECIAL = {
    **dict.fromkeys(("kubectl", "k", "oc", "kubecolor"), _kubectl),
    **dict.fromkeys(names("helm flux stern istioctl velero skaffold tilt argocd"), _driver),
}
