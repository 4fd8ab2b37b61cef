"""Test lanes: which tests run where, and what each lane guarantees.

| lane | command | runs |
|---|---|---|
| fast | `make test-fast` | tests that start no JVM and build nothing |
| default | `make test` | all but the long proofs |
| all | `make test-all` | everything, with the product's own Spark settings |

A long proof is marked `slow`. Of a matrix whose cases differ little, the default lane runs those that
`sampled` names. Of every other matrix of tests with a JVM, it runs one case, or as many as
`make test CASES=n` says; pytest called without make, as for one file, runs all of them.

A test is not in the fast lane when it uses the shared session (marked `spark` at collection), or starts a
JVM or pytest of its own or builds an environment (marked `process` by its author). The fast lane puts a
`java` first that refuses to start, so a test that is marked wrongly fails there and is named.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lakeward.errors import SetupError
from lakeward.session.cache import cache_dir
from lakeward.session.jvm.java_runtime import find_java

LANE = "LAKEWARD_TEST_LANE"
# `test_spark` gets the shared session without naming it.
SESSION_FIXTURES = {"suite_settings", "lakehouse", "test_spark"}

# Settings of the suite's shared session. Queries of ten rows spend their time in planning and in generating
# and compiling code, not in running: interpreted evaluation without adaptive re-planning is several times
# cheaper, and one task a sixth cheaper than two. `make test-all` runs with the product's settings.
QUICK_CONF = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.databricks.delta.snapshotPartitions": "1",
}


# Parameter sets of one test with a JVM that the default lane runs.
CASES_KEPT = int(os.environ.get("LAKEWARD_TEST_CASES") or 1)


def session_conf() -> dict[str, str]:
    """Return the Spark settings that the lane adds to the shared session's."""
    return {} if os.environ.get(LANE) == "all" else dict(QUICK_CONF)


def sampled(cases: Iterable[Any], *kept: Any) -> list[Any]:
    """Return `cases` as parameters of a test: the default lane runs those in `kept`, `make test-all` each.

    Raises ValueError if a case to keep is not among them.
    """
    cases = list(cases)
    missing = [each for each in kept if each not in cases]
    if missing:
        raise ValueError(f"not among the cases: {missing}")
    return [each if each in kept else _long(each) for each in cases]


def _long(case: Any) -> Any:
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)


def mark_spark_tests(items: Iterable[pytest.Item]) -> None:
    """Mark every test that uses the shared session with `spark`."""
    for item in items:
        if not SESSION_FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.spark)


def thin_out(items: Iterable[pytest.Item]) -> None:
    """Mark cases of tests with a JVM `slow`, so that `CASES_KEPT` cases of each test remain.

    Only in the default lane. Which cases remain depends on their names alone: workers must agree, and cases
    that are chosen by a digest differ in all parameters where the test is a product of several.
    """
    if os.environ.get(LANE) != "default":
        return
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if _rank(item) < 2 and item.get_closest_marker("slow") is None:
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for each in cases.values():
        for item in sorted(each, key=lambda case: _digest(case.nodeid))[CASES_KEPT:]:
            item.add_marker(pytest.mark.slow)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def order_by_cost(items: list[pytest.Item]) -> None:
    """Sort tests by file: own JVMs first, the shared session next, files without a JVM last.

    Workers take whole files. The short files at the end keep all workers busy.
    """
    ranks: dict[Path, int] = {}
    for item in items:
        ranks[item.path] = min(_rank(item), ranks.get(item.path, 2))
    items.sort(key=lambda item: ranks[item.path])


def _rank(item: pytest.Item) -> int:
    if item.get_closest_marker("process"):
        return 0
    return 1 if item.get_closest_marker("spark") else 2


@contextmanager
def quick_java() -> Iterator[None]:
    """Start the JVMs of child processes with the C1 compiler alone, as the suite's own.

    They live for seconds, in which C2 takes more than a third of the processor time. JAVA_HOME is a folder
    like the real one, but its `java` adds the option: options in variables would be printed by every JVM.
    `make test-all` starts the real one.
    """
    with pytest.MonkeyPatch.context() as patch:
        home = None if os.environ.get(LANE) == "all" else _quick_home()
        if home is not None:
            patch.setenv("JAVA_HOME", str(home))
        yield


def _quick_home() -> Path | None:
    """Return the folder, made on first use; None for a Java that is more than a folder with `bin/java`.

    It is in the cache: archives of Spark's classes are kept for each path of a Java.
    """
    try:
        real = find_java().resolve().parent.parent
    except SetupError:
        return None
    home = cache_dir() / "java" / f"of-the-suite-{_digest(str(real))[:16]}"
    if not (real / "release").is_file() or (home / "bin" / "java").is_file():
        return home if (home / "bin" / "java").is_file() else None
    home.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=home.parent))
    (made / "bin").mkdir()
    for entry in [*real.iterdir(), *(real / "bin").iterdir()]:
        if entry.name not in ("bin", "java"):
            (made / entry.relative_to(real)).symlink_to(entry)
    program = made / "bin" / "java"
    options = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(str(real / "bin" / "java"))} {options} "$@"\n')
    program.chmod(0o755)
    made.chmod(0o755)
    try:
        made.rename(home)
    except OSError:  # another worker was faster
        shutil.rmtree(made)
    return home


@contextmanager
def java_refused(folder: Path) -> Iterator[None]:
    """Make every `java` found by JAVA_HOME or PATH refuse to start; `folder` holds the replacement."""
    real = shutil.which("java")
    home = folder / "java-refused"
    (home / "bin").mkdir(parents=True, exist_ok=True)
    program = home / "bin" / "java"
    program.write_text(
        "#!/bin/sh\n"
        'echo "The fast lane starts no JVM; mark this test spark or process: $PYTEST_CURRENT_TEST" >&2\n'
        "exit 97\n"
    )
    program.chmod(0o755)
    release = Path(real).resolve().parent.parent / "release" if real else None
    # lakeward reads a runtime's version from this file and does not start the runtime for it.
    if release is not None and release.is_file():
        shutil.copy(release, home / "release")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_HOME", str(home))
        patch.setenv("PATH", str(home / "bin"), prepend=os.pathsep)
        yield
