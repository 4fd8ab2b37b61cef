"""A package that cannot be fetched is left out of the session with a warning; the JVM always starts."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from lakeward.errors import SessionError
from lakeward.session.configuration.spark_packages import adapt_packages
from lakeward.session.jvm import unavailable_packages
from lakeward.session.jvm.unavailable_packages import start_with_packages

NOT_STARTED = SessionError("JVM_NOT_STARTED", "Spark's JVM did not come up.")


class Jvm:
    """Starts where every package is one of `resolved`, as Spark's own resolution decides."""

    def __init__(self, *resolved: str) -> None:
        self.resolved, self.tries = set(resolved), 0

    def start(self, conf: Mapping[str, str]) -> str:
        self.tries += 1
        if set(filter(None, conf.get("spark.jars.packages", "").split(","))) - self.resolved:
            raise NOT_STARTED
        return "gateway"


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with org.x:there:1, the only one."""
    (tmp_path / "org/x/there/1").mkdir(parents=True)
    (tmp_path / "org/x/there/1/there-1.pom").write_text("<project/>")
    monkeypatch.setattr(unavailable_packages, "CENTRAL", str(tmp_path))
    monkeypatch.setattr(unavailable_packages, "_SPARK_PACKAGES", str(tmp_path))
    monkeypatch.delenv("DEFAULT_ARTIFACT_REPOSITORY", raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("requested", "resolved", "left", "named"),
    [
        (("org.x:there:1",), ("org.x:there:1",), "org.x:there:1", ""),
        (("org.x:there:1", "org.x:gone:1"), ("org.x:there:1",), "org.x:there:1", "org.x:gone:1"),
        (("org.x:gone:1",), (), None, "org.x:gone:1"),
        (("org.x:there:1",), (), None, "org.x:there:1"),  # something that it needs is missing
        (("org.x:there:1", "org.x:gone:1"), (), None, "org.x:there:1"),
        (("nonsense",), (), None, "nonsense"),
    ],
)
def test_the_session_starts_with_the_packages_that_can_be_fetched(
    requested: tuple[str, ...],
    resolved: tuple[str, ...],
    left: str | None,
    named: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    conf = {"spark.jars.packages": ",".join(requested)}
    with caplog.at_level(logging.WARNING, logger="lakeward.session"):
        assert start_with_packages(conf, Jvm(*resolved).start, home=tmp_path / "home") == "gateway"
    assert conf.get("spark.jars.packages") == left
    assert named in caplog.text and bool(named) is bool(caplog.records)


def test_a_jvm_that_fails_for_another_reason_is_an_error() -> None:
    def broken(_: Mapping[str, str]) -> None:
        raise NOT_STARTED

    for conf in ({}, {"spark.jars.packages": "org.x:there:1"}):
        with pytest.raises(SessionError, match="JVM_NOT_STARTED"):
            start_with_packages(conf, broken)


@pytest.mark.parametrize("scala", ["2.10", "2.11", "2.12", "2.13"])
def test_packages_for_another_scala_become_those_for_this_one(scala: str) -> None:
    requested = f"com.microsoft.azure:azure-eventhubs-spark_{scala}:2.3.22,org.x:y-2.12:1,g:a_{scala}-tests:1"
    assert adapt_packages(requested) == (
        "com.microsoft.azure:azure-eventhubs-spark_2.13:2.3.22,org.x:y-2.12:1,g:a_2.13-tests:1"
    )


@pytest.mark.slow
@pytest.mark.process
def test_a_real_session_starts_without_a_package_that_is_nowhere(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from lakeward.session import Settings, session
conf = {{"spark.jars.packages": "org.nowhere:nothing_2.13:1"}}
spark = session(Settings.here(Path("."), environ={{}}, conf=conf))
spark.range(2).write.format("avro").save("{tmp_path / "a"}")
print("rows", spark.read.format("avro").load("{tmp_path / "a"}").count())
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False, timeout=300
    )
    assert "rows 2" in done.stdout, done.stderr[-2000:]
    assert "org.nowhere:nothing_2.13:1" in done.stderr
