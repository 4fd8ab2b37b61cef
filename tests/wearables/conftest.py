from __future__ import annotations

from pathlib import Path

import pytest
from fixtures.generate import generate

from tests.wearables.oracle import Lakehouse, lakehouse


@pytest.fixture(scope="session")
def deliveries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generated data of twenty users on seven days."""
    folder = tmp_path_factory.mktemp("deliveries")
    generate(folder, users=20, days=7, seed=7, longest=60)
    return folder


@pytest.fixture(scope="session")
def expected(deliveries: Path) -> Lakehouse:
    """What the oracle makes of `deliveries`."""
    return lakehouse(deliveries)
