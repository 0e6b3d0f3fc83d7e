"""Object storage: what programs that speak to buckets make, replace and empty there, and carry here."""

from __future__ import annotations

import re

from msgspec import Struct

from reflexd.shell.arguments import Parsed
from reflexd.shell.calls import Call
from reflexd.shell.fields import shown
from reflexd.shell.operands import effect
from reflexd.shell.operations import operation
from reflexd.shell.options import Words, names, split
from reflexd.shell.places import Ground
from reflexd.shell.realms import places
from reflexd.types import Effect, EffectKind, Place

_COPIES = names("cp copy copyto sync rsync mirror put upload get download bisync")
_MOVES = names("mv move moveto")
_GOES = names("rm rb del delete deletefile purge rmdirs cleanup undo")
_LOOKS = names("ls lsd lsf lsl lsjson list la info stat du size cat head tree version diff check about")
_MAKES = names("mb mkdir touch settier setmeta tag link rcat copyurl pipe run version-enable")
_ACCESS = names("acl iam policy anonymous admin setacl setpolicy delpolicy hmac signurl presign share")
_VERBS = _COPIES | _MOVES | _GOES | _LOOKS | _MAKES | _ACCESS
_VALUED = names(
    "--profile --endpoint-url --region --exclude --include --acl --storage-class -c --config --transfers --filter"
    " --content-type --cache-control --metadata --filter-from --bwlimit --checkers --log-file --log-level --min-age"
    " --max-age --backup-dir --sse --access_key --secret_key --host --host-bucket -o --older-than --newer-than"
    " --project"
)
_DRY = ("--dryrun", "--dry-run", "--simulate", "--fake")
_EMPTIES = (
    "--delete",
    "--delete-after",
    "--delete-removed",
    "--remove",
    "--delete-unmatched-destination-objects",
    "--delete-destination",
    "--delete-excluded",
)
_SCHEME = re.compile(r"(?:s3|gs|az|b2|swift|oss|cos|r2)://|https://[\w.-]*\.(?:blob|s3)[\w.-]*/")


class Store(Struct, frozen=True):
    """`away`: what names another place. `syncs`: a sync deletes by itself."""

    away: re.Pattern[str]
    realm: str
    syncs: bool = False
    dry: tuple[str, ...] = _DRY


STORES = {
    "gsutil": Store(_SCHEME, "gcp"),
    "s3cmd": Store(_SCHEME, "storage", dry=(*_DRY, "-n")),
    "s5cmd": Store(_SCHEME, "storage"),
    "rclone": Store(re.compile(r":?[\w.+@ -]+(?:,[^:]*)?:"), "storage", syncs=True, dry=(*_DRY, "-n")),
    "mc": Store(re.compile(r"[A-Za-z][\w-]*(?:/|\Z)"), "storage"),
    "mcli": Store(re.compile(r"[A-Za-z][\w-]*(?:/|\Z)"), "storage"),
    "azcopy": Store(_SCHEME, "azure"),
    "aws": Store(_SCHEME, "aws"),
    "gcloud": Store(_SCHEME, "gcp"),
}
_WITHIN = {"aws": "s3", "gcloud": "storage"}
"""Programs of which only one group of subcommands speaks to buckets."""


def _store(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    store = STORES[call.name]
    words = split(call.argv[1:], _VALUED)
    group = _WITHIN.get(call.name)
    at = _verb_at(words, group)
    verb = words.operands[at] if at >= 0 else ""
    if group and verb not in _COPIES | _MOVES:
        return operation(call, call.name, ground) or ([], False)
    if not verb or _dry(call, words, store):
        return [], False
    given = words.operands[at + 1 :]
    kind, local = _does(verb, given, words, store)
    found = [made for role, word in local if (made := effect(role, word, call, ground, detail=call.name))]
    if kind is None:
        return found, not found and verb in _LOOKS
    where: tuple[Place, ...] = places(store.realm, call, Parsed(words.flags, words.values, given, False), ground)
    if verb in _ACCESS:
        where = (*where, "credentials")
    title = " ".join(map(shown, (call.name, *words.operands[: at + 1], *given[:4])))
    deep = words.has("-r", "-R", "--recursive", *_EMPTIES) or verb in ("purge", "sync", "mirror")
    found.append(Effect(kind, title, where, recursive=deep, detail=verb))
    return found, False


def _verb_at(words: Words, group: str | None) -> int:
    """Where the verb stands, -1 for none. The value of an option that nobody described may stand before it."""
    operands = list(words.operands)
    start = operands.index(group) + 1 if group in operands else 0 if group is None else len(operands)
    return next((at for at in range(start, len(operands)) if operands[at] in _VERBS), -1)


def _dry(call: Call, words: Words, store: Store) -> bool:
    """Whether nothing is done, and no later word takes that back."""
    taken_back = any(word.startswith(("--no-dry", "--no-sim")) or word.endswith("=false") for word in call.argv)
    return words.has(*store.dry) and not taken_back


def _does(
    verb: str, given: tuple[str, ...], words: Words, store: Store
) -> tuple[EffectKind | None, list[tuple[str, str]]]:
    """What a verb does over there, and to which files here."""
    if verb in _GOES:
        return "destroy", []
    if verb in _MAKES or verb in _ACCESS:
        return "change", []
    if verb not in _COPIES | _MOVES:
        return None, []
    away = [store.away.match(word) is not None for word in given]
    moves = verb in _MOVES
    taken = moves and any(away[:1])
    if not any(away[1:]):  # it comes here
        return ("destroy" if taken else None), [("write", word) for word in given[-1:]]
    here = [word for word, gone in zip(given, away, strict=True) if not gone]
    empties = words.has(*_EMPTIES) or (verb == "rsync" and words.has("-d")) or (store.syncs and verb == "sync")
    kind: EffectKind = "destroy" if taken or empties else "change"
    return kind, [("move" if moves else "read", word) for word in here]


SPECIAL = dict.fromkeys(STORES, _store)
