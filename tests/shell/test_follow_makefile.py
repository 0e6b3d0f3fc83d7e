"""Makefiles: what make would run for the targets and variables it is given."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexd.shell.calls import Local
from reflexd.shell.carriers import Unwrapped
from reflexd.shell.makefile import read


def made(text: str, *words: str) -> Unwrapped:
    return read(text, Local("make", "/p/Makefile", "Makefile", words))


def lines(text: str, *words: str) -> list[str]:
    """The recipe lines alone."""
    return [code.rpartition("(\n")[2].removesuffix("\n)") for code in made(text, *words).code]


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("all:\n\tls\n", (), ["ls"]),
        ("a:\n\techo a\nb:\n\techo b\n", (), ["echo a"]),
        ("a:\n\techo a\nb:\n\techo b\n", ("b",), ["echo b"]),
        ("a:\n\techo a\nb:\n\techo b\n", ("b", "a"), ["echo b", "echo a"]),
        (".PHONY: a\n.SUFFIXES:\na:\n\techo a\n", (), ["echo a"]),
        (".DEFAULT_GOAL := b\na:\n\techo a\nb:\n\techo b\n", (), ["echo b"]),
        ("a: b | c\n\techo a\nb:\n\techo b\nc:\n\techo c\n", (), ["echo b", "echo c", "echo a"]),
        ("a: ; echo a\n", (), ["echo a"]),
        ("a:\n\t@-+echo a\n", (), ["echo a"]),
        ("a:\n\techo $$HOME $@ $< $^ $*\n", (), ["echo $HOME a   "]),
        ("a: b c\n\techo $@ $< $^\n", (), ["echo a b b c"]),
        ("a/x: y\n\techo $(@D) $(@F)\n", (), ["echo a x"]),
        ("X = 1\na:\n\techo $X $(X) ${X}\n", (), ["echo 1 1 1"]),
        ("X = 1\na:\n\techo $(X)\n", ("X=2",), ["echo 2"]),
        ("X = 1\noverride X = 3\na:\n\techo $(X)\n", ("X=2",), ["echo 3"]),
        ("X ?= 1\nX ?= 2\na:\n\techo $(X)\n", (), ["echo ${X:-1}"]),
        ("X ?= $(Y)\na:\n\techo $(X)\n", (), ["echo ${Y}"]),
        ("X = 1\nX += 2\na:\n\techo $(X)\n", (), ["echo 1 2"]),
        ("Y = $(X)\nX = 1\nZ := $(X)\nX = 2\na:\n\techo $(Y) $(Z)\n", (), ["echo 2 1"]),
        ("X = a.c b.c\na:\n\techo $(X:.c=.o)\n", (), ["echo a.o b.o"]),
        ("X = a b\na:\n\techo $(addprefix x/,$(X)) $(notdir y/z) $(subst a,c,$(X))\n", (), ["echo x/a x/b z c b"]),
        ("a:\n\t$(foreach i,1 2,rm $(i);)\n", (), ["rm 1; rm 2;"]),
        ("define f\nrm $(1) $(2)\nendef\na:\n\t$(call f,x,y)\n", (), ["rm x y"]),
        ("%.o: %.c\n\tcc -o $@ $< $*\n", ("x.o",), ["cc -o x.o x.c x"]),
        ("x.o y.o: %.o: %.c\n\tcc $< -o $@\n", ("y.o",), ["cc y.c -o y.o"]),
        ("a: X = 1\na:\n\techo $(X)\n", (), ["echo 1"]),
        ("a:\n\techo 1 \\\n\t  2\n", (), ["echo 1 \\\n  2"]),
        ("X = 1 \\\n  2\na:\n\techo $(X)\n", (), ["echo 1 2"]),
        ("X = 1 # one\na: # two\n\techo $(X) # three\n", (), ["echo 1  # three"]),
        ("ifdef X\na:\n\techo 1\nelse\na:\n\techo 2\nendif\n", (), ["echo 1", "echo 2"]),
        ("a:\nifdef X\n\techo 1\nelse\n\techo 2\nendif\n", (), ["echo 1", "echo 2"]),
        (".ONESHELL:\na:\n\tcd x\n\tls\n", (), ["cd x\nls"]),
        (".RECIPEPREFIX = >\na:\n>ls\n", (), ["ls"]),
        ("a:\n\t$(RM) x; $(MAKE) b\n", (), ["rm -f x; make b"]),
        ("a:\n\techo $(shell date +%s)\n", (), ["echo $(date +%s)"]),
        ("a:\n\trm -rf $(X)/y\n", (), ["rm -rf ${X}/y"]),
        ("a::\n\techo 1\na::\n\techo 2\n", (), ["echo 1", "echo 2"]),
        ("$(X): b\nb:\n\techo b\na:\n\techo a\n", ("b",), ["echo b"]),
        ("a:\n\techo a\n", ("gone",), []),
    ],
)
def test_what_make_runs(text: str, words: tuple[str, ...], expected: list[str]) -> None:
    assert lines(text, *words) == expected
    assert made(text, *words).opaque == ()


def test_what_reading_the_file_runs_comes_first_whatever_the_target() -> None:
    text = "X := $(shell rm a)\nY != rm b\nZ = $(shell rm c)\nall:\n\tls\n"
    assert made(text, "all").code == ("(rm a\n)", "(rm b\n)", "(\nls\n)")


def test_variables_given_or_exported_are_in_the_recipe_s_environment() -> None:
    (code,) = made("export A = x y\nB = 1\na:\n\techo $$A\n", "C=2").code
    assert code == "export A='x y'\nexport C=2\n(\necho $A\n)"


def test_a_shell_that_is_none_is_given_the_recipe_as_its_code() -> None:
    assert made("SHELL = /usr/bin/python3\na:\n\tprint(1)\n").commands == (("python3", "-c", "print(1)"),)
    assert made("SHELL := /bin/bash\na:\n\tls\n").code == ("(\nls\n)",)


@pytest.mark.parametrize("text", ["include x.mk\na:\n\tls\n", "$(eval $(X))\na:\n\tls\n", "-include .env\n"])
def test_what_may_define_more_is_said(text: str) -> None:
    assert made(text).opaque


def test_a_variable_of_an_included_file_is_unknown_rather_than_empty() -> None:
    assert lines("include x.mk\na:\n\trm -rf $(D)/x\n") == ["rm -rf ${RANDOM}/x"]


@pytest.mark.parametrize(
    "text", ["X = $(X)\na:\n\t$(X)\n", "X = $(Y)\nY = $(X)\na:\n\t$(X)\n", "a: b\n\tls\nb: a\n\tls\n"]
)
def test_what_names_itself_ends(text: str) -> None:
    assert made(text) == made(text)


def test_the_targets_that_are_followed_are_bounded() -> None:
    text = "all: " + " ".join(f"t{n}" for n in range(900)) + "\n" + "".join(f"t{n}:\n\trm {n}\n" for n in range(900))
    found = made(text)
    assert len(found.code) < 900
    assert found.opaque


PIECES = st.sampled_from(
    [
        "\t",
        "\n",
        "a",
        "b",
        "X",
        ":",
        "=",
        ":=",
        "+=",
        "?=",
        "!=",
        "$",
        "$(",
        "${",
        ")",
        "}",
        "$$",
        "@",
        "<",
        "^",
        "%",
        " ",
        "\\\n",
        "#",
        ";",
        "|",
        "ifdef X",
        "ifeq (a,b)",
        "else",
        "endif",
        "define f",
        "endef",
        "include ",
        "export ",
        "shell ",
        "call f,",
        "foreach i,a b,",
        ",",
        "subst a,b,",
        ".ONESHELL:",
        "override ",
        "rm -rf ~",
    ]
)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(PIECES, max_size=60).map("".join) | st.text(max_size=200),
    st.lists(st.sampled_from(["a", "X=1"]), max_size=2),
)
def test_any_text_can_be_read(text: str, words: list[str]) -> None:
    first = made(text, *words)
    assert isinstance(first, Unwrapped)
    assert made(text, *words) == first


@pytest.mark.parametrize(
    "text",
    [
        "X=" + "$(" * 50_000,
        "a:\n\t" + "$(a)" * 50_000,
        " " * 200_000 + "=",
        "export" + " " * 200_000 + "!",
        "a:" + " b" * 100_000,
        "a b " * 50_000,
        "ifdef X\n" * 50_000,
        "define x\n" + "y\n" * 50_000,
        "\\\n" * 100_000,
        "a:\n" + "\tx\\\n" * 60_000,
        "X" + "+" * 100_000,
        "X = $(Y)$(Y)\nY = $(Z)$(Z)\nZ = $(W)$(W)\nW = $(X)$(X)\na:\n\t$(X)\n",
        "(" * 100_000,
        "".join(f"X{n} = $(X{n + 1})$(X{n + 1})\n" for n in range(200)) + "a:\n\t$(X0)\n",
        "$(foreach i," + "x " * 5000 + ",$(foreach j," + "y " * 5000 + ",$(i)$(j)))",
    ],
    ids=range(15),
)
def test_hostile_text_is_read_in_bounds(text: str) -> None:
    """Each of these takes for ever where a step is repeated for each character."""
    found = made(text, "a")
    assert sum(map(len, found.code)) <= 4 * len(text) + 100_000
