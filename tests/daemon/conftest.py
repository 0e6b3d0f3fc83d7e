from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.daemon.running import Daemon


@pytest.fixture
def daemon(short_home: str) -> Iterator[Daemon]:
    """A daemon of the test's own. It must not have had a bug or blocked its loop by the end."""
    with Daemon(short_home) as running:
        yield running
        assert "bug: " not in running.log(), running.log()
