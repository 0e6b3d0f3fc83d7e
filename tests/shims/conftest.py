from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator

import pytest

from reflexd import paths
from reflexd.types import Places


@pytest.fixture(params=["plain", "it's a home"])
def places(request: pytest.FixtureRequest) -> Iterator[Places]:
    """Places below a short temporary home; once with a space and a quote in its name."""
    top = tempfile.mkdtemp(prefix="rx-")
    home = os.path.join(top, request.param)
    os.makedirs(home, 0o700)
    try:
        yield paths.places(home, {})
    finally:
        shutil.rmtree(top, ignore_errors=True)
