"""Share one Spark session across the suite; JVM start-up dominates its cost."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from lakeward.dbutils import secret_stores
from lakeward.session import Settings, session
from lakeward.spark_internals import activated, session_state
from tests import lanes
from tests.disks import full_disk, read_only
from tests.processes import SharedDaemon

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["data", "full_disk", "read_only", "spark", "suite_settings"]

# No deadlines for Hypothesis: timing depends on the machine.
hypothesis_settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("suite")


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get(lanes.LANE) == "fast":
        # Before collection: modules of tests are imported there.
        refusal = ExitStack()
        folder = refusal.enter_context(TemporaryDirectory())
        refusal.enter_context(lanes.java_refused(Path(folder)))
        config.add_cleanup(refusal.close)
    # A shell starts background jobs with SIGINT ignored, and the processes that tests interrupt inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Assign tests to lanes before `-m` selects among them."""
    lanes.mark_spark_tests(items)
    lanes.thin_out(items)
    lanes.order_by_cost(items)


@pytest.fixture(scope="session", autouse=True)
def _java_of_the_lane() -> Iterator[None]:
    if os.environ.get(lanes.LANE) == "fast":
        yield
        return
    with lanes.quick_java():
        yield


@pytest.fixture(scope="session", autouse=True)
def _own_secret_key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Encrypt the suite's secrets with a key of its own, not the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAKEWARD_SECRET_KEY_FILE", str(tmp_path_factory.mktemp("key") / "secrets.key"))
        yield


@pytest.fixture(autouse=True)
def _secrets_are_forgotten() -> Iterator[None]:
    """Forget the secrets that a test read: the next test's texts are not redacted for them."""
    before = set(secret_stores._handed_out)
    yield
    secret_stores._handed_out.intersection_update(before)


@pytest.fixture(scope="session")
def suite_settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Return settings of the suite's own lakehouse, in a temporary folder."""
    # C1 only: with thousands of short queries the C2 compiler takes more than half of the processor time.
    # Without C2 the JVM reserves 48 MB for compiled code. Flushing that took a quarter of the suite's time
    # (full collections on Java 21, endless sweeps on Java 17), so reserve more and sweep rarely.
    # A young generation of 128 MB was collected 2.5 times a second.
    options = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=512m -XX:SweeperThreshold=20 -Xmn640m"
    conf = {"spark.driver.extraJavaOptions": options, **lanes.session_conf()}
    return Settings.here(tmp_path_factory.mktemp("suite"), environ={}, conf=conf)


@pytest.fixture
def spark(suite_settings: Settings) -> Iterator[SparkSession]:
    """Return the shared session on the suite's lakehouse, in main.default.

    It is the active one of the JVM's thread, whichever session a test before has left there.
    """
    shared = session(suite_settings)
    with activated(shared):
        before = _temporary_views(shared)
        yield shared
        for view in _temporary_views(shared) - before:
            shared.catalog.dropTempView(view)
        for key, value in lanes.session_conf().items():
            shared.conf.set(key, value)
        # Each query is compared with everything that is cached.
        shared.catalog.clearCache()


def _temporary_views(spark: SparkSession) -> set[str]:
    listed = session_state(spark).catalog().listLocalTempViews("*")
    return {listed.apply(number).table() for number in range(listed.size())}


@pytest.fixture(scope="session")
def shared_daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedDaemon]:
    """Return the daemon that child processes of this worker share; it ends with the session."""
    daemon = SharedDaemon(tmp_path_factory.mktemp("daemon"))
    yield daemon
    daemon.stop()


@pytest.fixture
def data() -> Path:
    """Return the folder with real data next to the checkout; skip the test where it is absent."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real data is not next to this checkout")
    return folder
