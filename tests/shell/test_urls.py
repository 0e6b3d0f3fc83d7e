"""Hosts of URLs, and where a cloud hands out keys."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexd.shell.urls import host, is_metadata


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://E.example:8443/a?b#c", "e.example"),
        ("https://user:pw@e.example/", "e.example"),
        ("https://a@b@e.example", "e.example"),
        ("http:\\\\e.example\\x", "e.example"),
        ("HTTP:////e.example", "e.example"),
        ("http://%65.example/", "e.example"),
        ("http://e．example。/", "e.example"),
        ("http://[::1]:80/", "::1"),
        ("http://e.example?x=//other", "e.example"),
        ("//e.example/x", "e.example"),
        ("mailto:a@e.example", ""),
        ("a/b", ""),
    ],
)
def test_the_host_is_the_one_that_a_client_would_take(url: str, name: str) -> None:
    assert host(url) == name


@pytest.mark.parametrize(
    "name",
    [
        *("169.254.169.254", "169.254.170.2", "2852039166", "0xa9fea9fe", "0xA9.0xFE.0xA9.0xFE", "0251.0376.0251.0376"),
        *("169.254.43518", "169.16689662", "::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "fd00:ec2::254"),
        *("metadata.google.internal", "metadata", "169.254.169.254.nip.example", "169-254-169-254.x.example"),
        *("100.100.100.200", "2002:a9fe:a9fe::"),
    ],
)
def test_every_spelling_of_a_metadata_address(name: str) -> None:
    assert is_metadata(name)


@pytest.mark.parametrize(
    "name",
    [
        *("", "localhost", "127.0.0.1", "10.0.0.1", "e.example", "metadata.example", "1.2.3", "999.1.1.1", "08.1.1.1"),
        *("::1", "169.253.1.1", "1169.254.169.254"),
    ],
)
def test_other_hosts_are_none(name: str) -> None:
    assert not is_metadata(name)


@settings(max_examples=500, deadline=None)
@given(st.text(max_size=40) | st.text(alphabet="0123456789.xX:[]%-/@\\", max_size=30).map(lambda t: "http://" + t))
def test_any_text_is_a_host_or_none(text: str) -> None:
    is_metadata(host(text))
    is_metadata(text)
