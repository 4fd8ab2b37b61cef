"""One Spark session for the whole suite: starting it is the dear part."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from lakeward.dbutils import secret_stores
from lakeward.session import Settings, session
from tests.disks import full_disk, read_only

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["data", "full_disk", "read_only", "spark", "suite_settings"]

# How long an example takes says more of the machine than of the law.
hypothesis_settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("suite")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that start JVMs first, those without Spark last: the short ones keep all workers busy."""
    ranks: dict[Path, int] = {}
    for item in items:
        ranks[item.path] = min(_rank(item), ranks.get(item.path, 2))
    items.sort(key=lambda item: ranks[item.path])


def _rank(item: pytest.Item) -> int:
    if item.get_closest_marker("process"):
        return 0
    return 1 if "suite_settings" in getattr(item, "fixturenames", ()) else 2


@pytest.fixture(scope="session", autouse=True)
def _own_secret_key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The suite's secrets are not encrypted with the user's own key."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAKEWARD_SECRET_KEY_FILE", str(tmp_path_factory.mktemp("key") / "secrets.key"))
        yield


@pytest.fixture(autouse=True)
def _secrets_are_forgotten() -> Iterator[None]:
    """What one test was given is not redacted in the texts of the next."""
    before = set(secret_stores._handed_out)
    yield
    secret_stores._handed_out.intersection_update(before)


@pytest.fixture(scope="session")
def suite_settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The suite's own lakehouse, in a temporary folder."""
    # Thousands of short queries: the second compiler would take more than half of the processor time.
    # Without it Java keeps room for 48 MB of code only. To empty it, full collections (Java 21) or endless
    # sweeps (Java 17) took a quarter of the suite's time.
    options = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=512m -XX:SweeperThreshold=20"
    conf = {"spark.driver.extraJavaOptions": options}
    return Settings.here(tmp_path_factory.mktemp("suite"), environ={}, conf=conf)


@pytest.fixture
def spark(suite_settings: Settings) -> SparkSession:
    """The shared session, on the suite's lakehouse, in main.default."""
    return session(suite_settings)


@pytest.fixture
def data() -> Path:
    """The folder with real data beside the checkout; a test that needs it is skipped where it is absent."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real data is not beside this checkout")
    return folder
