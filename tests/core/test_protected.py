"""What a repository's patterns for protected files meet."""

from __future__ import annotations

import pytest

from reflexd.core.protected import Protected, fault_of
from reflexd.types import Effect, EffectKind, Facts

ROOT = "/home/dev/proj"


def meets(pattern: str, target: str, kind: EffectKind = "write", recursive: bool = False) -> bool:
    effect = Effect(kind, f"{ROOT}/{target}".rstrip("/"), recursive=recursive)
    return Protected(ROOT, (pattern,)).finding(Facts(effects=(effect,))) is not None


@pytest.mark.parametrize(
    ("pattern", "target", "kind", "recursive"),
    [
        ("infra/**", "infra/a/b.tf", "write", False),
        ("infra", "infra/a/b.tf", "write", False),
        ("infra/", "x/infra/a.tf", "write", False),
        ("/infra", "infra/a.tf", "write", False),
        ("*.tfvars", "a/b/prod.tfvars", "delete", False),
        ("deploy/*.yml", "deploy/prod.yml", "attributes", False),
        ("a/**/secret.txt", "a/secret.txt", "write", False),
        ("a/**/secret.txt", "a/b/c/secret.txt", "write", False),
        ("infra/prod.tf", "infra", "delete", True),
        ("infra/prod.tf", "infra", "move", False),
        ("infra/prod.tf", "infra/*", "delete", False),
        ("infra/prod.tf", "infra/…", "delete", False),
        ("infra/*.tf", "infra/prod*", "delete", False),
        ("infra/prod.tf", "*", "delete", True),
        ("*.tfvars", "", "delete", True),
    ],
)
def test_it_meets(pattern: str, target: str, kind: EffectKind, recursive: bool) -> None:
    assert meets(pattern, target, kind, recursive)


@pytest.mark.parametrize(
    ("pattern", "target", "kind", "recursive"),
    [
        ("infra/**", "infrastructure/a.tf", "write", False),
        ("infra/**", "src/infra/a.tf", "write", False),
        ("infra/**", "infra/a.tf", "read", False),
        ("*.tfvars", "dist", "delete", True),
        ("infra/prod.tf", "*.pyc", "delete", False),
        ("infra/prod.tf", "src/*", "delete", True),
        ("deploy/*.yml", "deploy/eu/prod.yml", "write", False),
        ("a/**/secret.txt", "b/secret.txt", "write", False),
    ],
)
def test_it_leaves_alone(pattern: str, target: str, kind: EffectKind, recursive: bool) -> None:
    assert not meets(pattern, target, kind, recursive)


def test_what_lies_above_the_repository_holds_its_files() -> None:
    gone = Facts(effects=(Effect("delete", "/home/dev", recursive=True),))
    assert Protected(ROOT, ("x",)).finding(gone) is not None
    assert Protected(ROOT, ("x",)).finding(Facts(effects=(Effect("write", "/home/dev/project2/x"),))) is None


@pytest.mark.parametrize("pattern", ["!a", "../x", "a/../b", "", "/", "./a"])
def test_what_is_no_pattern(pattern: str) -> None:
    assert fault_of(pattern)
