"""A suite that does not ask for Spark pays nothing for the plugin."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from tests.processes import environ_without, outcome

from lakeward.session.runtimes.profiles import DEFAULT_PROFILE

pytestmark = pytest.mark.process

CONFTEST = """\
import sys

def pytest_sessionfinish():
    heavy = {"pyspark", "py4j", "pandas", "pyarrow", "rich"}
    loaded = sorted({name.split(".")[0] for name in sys.modules} & heavy)
    print("loaded:", loaded)
"""
SUITE = """\
def test_arithmetic():
    assert 1 + 1 == 2

def test_with_spark(spark):
    assert spark.range(1).count() == 1

def test_with_lakehouse(lakehouse):
    assert lakehouse
"""
HOOK = """\
def test_who_makes_the_session():
    from pyspark.sql import SparkSession
    print("maker:", SparkSession.Builder.getOrCreate.__module__)
"""


def pytest_in(folder: Path, *arguments: str, code: int = 0, **environ: str) -> str:
    clean = environ_without("LAKEWARD_", "PYTEST")
    ran = outcome(
        [sys.executable, "-m", "pytest", "-s", "-q", *arguments],
        cwd=folder,
        env={**clean, **environ},
        timeout=120,
    )
    assert ran.returncode == code, ran.stdout + ran.stderr
    return ran.stdout


def project(folder: Path, suite: str) -> Path:
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_suite.py").write_text(suite)
    (folder / "pytest.ini").write_text("[pytest]\n")
    return folder


def test_a_jvm_that_dies_in_a_test_does_not_end_the_run(tmp_path: Path) -> None:
    """The text of an error of Java is in the JVM; pytest itself must not fail over it."""
    suite = """\
import os, signal

def test_jvm_dies(spark):
    try:
        spark._jvm.java.util.ArrayDeque().pop()
    except Exception as error:
        os.kill(spark._jvm.java.lang.ProcessHandle.current().pid(), signal.SIGKILL)
        raise error from None

def test_arithmetic():
    assert 1 + 1 == 2
"""
    out = pytest_in(project(tmp_path, suite), code=1)
    assert "INTERNALERROR" not in out
    assert "1 failed, 1 passed" in out


def test_collecting_imports_no_pyspark(tmp_path: Path) -> None:
    out = pytest_in(project(tmp_path, SUITE), "--collect-only")
    assert "test_with_lakehouse" in out
    assert "loaded: []" in out


def test_running_a_test_without_spark_imports_no_pyspark(tmp_path: Path) -> None:
    assert "loaded: []" in pytest_in(project(tmp_path, SUITE), "-k", "arithmetic")


def test_a_builder_of_the_users_own_gives_lakewards_session(tmp_path: Path) -> None:
    assert "maker: lakeward.session.entry_points.session_builder_patch" in pytest_in(project(tmp_path, HOOK))


def test_the_runtimes_version_is_set_for_a_suite_that_asks_for_it(tmp_path: Path) -> None:
    suite = (
        'import os\n\ndef test_version():\n    print("is", os.environ.get("DATABRICKS_RUNTIME_VERSION"))\n'
    )
    folder = project(tmp_path, suite)
    assert "is None" in pytest_in(folder)
    (folder / "pytest.ini").write_text("[pytest]\nlakeward_runtime_version = true\n")
    assert f"is {DEFAULT_PROFILE}" in pytest_in(folder)


def test_lakeward_disable_leaves_the_builder_alone(tmp_path: Path) -> None:
    assert "maker: pyspark.sql.session" in pytest_in(project(tmp_path, HOOK), LAKEWARD_DISABLE="1")


def test_the_suite_has_a_state_folder_of_its_own_that_is_gone_afterwards(tmp_path: Path) -> None:
    suite = 'import os\n\ndef test_home():\n    print("home:", os.environ["LAKEWARD_HOME"])\n'
    out = pytest_in(project(tmp_path, suite))
    home = next(line for line in out.splitlines() if "home:" in line).split("home: ")[1].rstrip(".")
    assert "lakeward-tests-" in home
    assert not Path(home).exists()
    assert not (tmp_path / ".lakeward").exists()


def test_the_first_conftest_imports_what_lakeward_provides(tmp_path: Path) -> None:
    suite = project(tmp_path, "def test_nothing():\n    pass\n")
    (suite / "conftest.py").write_text("from databricks.connect import DatabricksSession\nimport dlt\n")
    assert "1 passed" in pytest_in(suite)


def test_a_conftest_that_raises_leaves_no_folder_behind(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("raise RuntimeError('no bread')\n")
    (tmp_path / "temporary").mkdir()
    ran = outcome(
        [sys.executable, "-m", "pytest", "-q"],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
        timeout=120,
    )
    assert ran.returncode == 4
    assert "no bread" in ran.stderr
    assert list((tmp_path / "temporary").glob("lakeward-*")) == []


_ANSI_FAILURES = """
import unittest

import pyspark
from lakeward.session import Settings, active_session

active_session._settings = Settings.here()  # as after the first use of Spark


def fail():
    raise ValueError("[CAST_INVALID_INPUT] The value 'x' cannot be cast")


def test_function():
    fail()


class Case(unittest.TestCase):
    def test_method(self):
        fail()
"""


def test_failures_of_functions_and_test_cases_name_the_runtime(tmp_path: Path) -> None:
    printed = pytest_in(project(tmp_path, _ANSI_FAILURES), code=1)
    assert "2 failed" in printed
    assert printed.count("ANSI mode can cause this error") == 2


_ACTIVE = """
import pytest
from pyspark.sql import SparkSession


@pytest.fixture
def of_databricks():
    return SparkSession.ACCESS()


def test_a_table(of_databricks):
    of_databricks.range(3).write.saveAsTable("main.default.t")
    assert SparkSession.builder.getOrCreate().table("main.default.t").count() == 3


def test_a_stopped_session_stays_stopped(of_databricks):
    of_databricks.stop()
    assert SparkSession.getActiveSession() is None
"""


@pytest.mark.parametrize("access", ["getActiveSession", "active"])
def test_the_active_session_is_there_before_the_first_test(tmp_path: Path, access: str) -> None:
    """As in tests that run in a notebook on Databricks."""
    assert "2 passed" in pytest_in(project(tmp_path, _ACTIVE.replace("ACCESS", access)))


_LOOKS = """
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "site-packages"))
import package


def test_a_package_that_looks_for_a_session():
    assert package.session() is None
"""


def test_packages_that_look_for_a_session_start_none(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "package.py"
    package.parent.mkdir()
    package.write_text(
        "def session():\n"
        "    from pyspark.sql import SparkSession\n"
        "    return SparkSession.getActiveSession()\n"
    )
    assert "1 passed" in pytest_in(project(tmp_path, _LOOKS))


_BUILDS = """
import pytest
from pyspark.sql import SparkSession


@pytest.fixture
def own():
    assert SparkSession.getActiveSession() is None, "a session to end, with its folder"
    return SparkSession.builder.appName("own").getOrCreate()


def test_the_session_that_the_fixture_builds(own):
    assert SparkSession.getActiveSession() is own
    assert own.range(2).count() == 2
"""


def test_a_fixture_that_builds_a_session_finds_none_before(tmp_path: Path) -> None:
    assert "1 passed" in pytest_in(project(tmp_path, _BUILDS))


_FOLDERS = """
def test_batch(spark):
    spark.read.csv("/mnt/raw/in.csv")


def test_table(spark):
    spark.sql("SELECT * FROM delta.`dbfs:/mnt/raw/t`").show()


def test_python():
    open("/Volumes/main/sales/landing/in.csv")


def test_another():
    open("/no/such/file")
"""


def test_failures_about_folders_of_the_cloud_name_the_mount(tmp_path: Path) -> None:
    printed = pytest_in(project(tmp_path, _FOLDERS), code=1)
    assert "4 failed" in printed
    assert printed.count("`--mount /mnt/raw=FOLDER`") == 2
    assert printed.count("`--mount /Volumes/main/sales/landing=FOLDER`") == 1


_CATALOGS = """
import pytest

STATEMENTS = [
    "CREATE SCHEMA absent.s",
    "CREATE TABLE absent.s.t (a INT)",
    "CREATE VOLUME absent.s.v",
    "USE CATALOG absent",
    "SHOW SCHEMAS IN absent",
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_sql(spark, statement):
    spark.sql(statement).collect()


def test_writer(spark):
    spark.range(1).write.saveAsTable("absent.s.t")


def test_catalog(spark):
    spark.catalog.setCurrentCatalog("absent")


@pytest.fixture
def schema(spark):
    spark.sql("CREATE SCHEMA absent.s")


def test_fixture(schema):
    pass
"""


@pytest.mark.slow
def test_failures_for_want_of_a_catalog_name_the_option_that_creates_it(tmp_path: Path) -> None:
    printed = pytest_in(project(tmp_path, _CATALOGS), code=1)
    assert "7 failed, 1 error" in printed
    assert printed.count("`lakeward test --catalog absent`") == 8
