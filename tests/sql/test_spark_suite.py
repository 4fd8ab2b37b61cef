"""Spark's own SQL tests give in a session of lakeward what Spark has recorded for them.

The files are those of Spark's test jar (Apache-2.0), which is fetched; files that make tables, functions or
schemas are left out, since those differ by design: they are managed, in Delta, in catalogs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from zipfile import ZipFile

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakeward.errors import SetupError
from lakeward.session.cache import cache_dir
from lakeward.session.jvm.jar_download import fetch
from lakeward.session.jvm.maven import Jar
from lakeward.spark_internals import activated, executed_plan, java_frame, jvm_view

pytestmark = pytest.mark.slow

_INPUTS, _RESULTS = "sql-tests/inputs/", "sql-tests/results/"
_WRITES = re.compile(
    r"\b(create\s+(or\s+replace\s+)?(table|function|database|schema)|insert\s+into|explain|add\s+jar)\b", re.I
)
_FAILED = re.compile(r"[a-z]+(\.\w+)+Exception$", re.MULTILINE)
# Their statements need classes or tables of Spark's test suite.
_OF_SUITE = ("udaf/", "udf/", "udtf/", "postgreSQL/", "subquery/", "scripting/")
_FOLDER_CONF = {"nonansi/": ("spark.sql.ansi.enabled", "false")}
_FOLDER_CONF["timestampNTZ/"] = ("spark.sql.timestampType", "TIMESTAMP_NTZ")
_CATALOG = "the current catalog is `main`"
_WIDER = "Databricks casts arguments of wider types"
_MISSING = "it reads tables of Spark's test suite"
_TASKS = "HiveResult starts tasks that do not see the session's settings"
OTHER = {
    "current_database_catalog.sql": _CATALOG,
    "date.sql": _WIDER,
    "datetime-legacy.sql": _WIDER,
    "double-quoted-identifiers-enabled.sql": "DROP VIEW of a missing view is VIEW_NOT_FOUND",
    "identifier-clause-legacy.sql": "its tables are in Delta and in `main`",
    "join-lateral.sql": _CATALOG,
    "keywords-enforced.sql": _TASKS,
    "limit.sql": _MISSING,
    "linear-regression.sql": "sums are computed in another order",
    "non-excludable-rule.sql": _MISSING,
    "nonansi/conditional-functions.sql": "a managed table cannot be made in Parquet",
    "operators.sql": _MISSING,
    "random.sql": "seeds depend on the number of partitions, and Databricks casts arguments of wider types",
    "transform.sql": _TASKS,
    "typeCoercion/native/decimalPrecision.sql": _WIDER,
    "variant-field-extractions.sql": "a quoted name is one field on Databricks, whatever dots it has",
}
"""Files with other results, and why."""


@dataclass(frozen=True)
class TestJar(Jar):
    """The jar with the classes and files of a module's tests."""

    __test__ = False

    @property
    def name(self) -> str:
        return f"{self.artifact}-{self.version}-tests.jar"


JAR = TestJar(
    "org.apache.spark",
    "spark-sql_2.13",
    "4.2.0",
    53_001_432,
    "810bef6fd568e1626aad7354a1161e9e5ac629fbc55ba0a9a4e3cec8c06376eb",
)


@pytest.fixture(scope="module")
def suite() -> Iterator[ZipFile]:
    folder = cache_dir() / "test-jars"
    try:
        fetch([JAR], folder, os.environ)
    except SetupError as error:
        pytest.skip(f"Spark's test jar cannot be fetched: {error}")
    with ZipFile(folder / JAR.name) as jar:
        yield jar


def test_statements_give_what_spark_has_recorded(spark: SparkSession, suite: ZipFile) -> None:
    different = {file: found for file in _files(suite) if (found := list(_differences(spark, suite, file)))}
    assert {file: found for file, found in different.items() if file not in OTHER} == {}
    assert sorted(set(OTHER) - set(different)) == []


def _files(suite: ZipFile) -> Iterator[str]:
    names = set(suite.namelist())
    for name in sorted(names):
        file = name.removeprefix(_INPUTS)
        if file == name or not file.endswith(".sql") or f"{_RESULTS}{file}.out" not in names:
            continue
        if not file.startswith(_OF_SUITE) and not _WRITES.search(suite.read(name).decode()):
            yield file


def _differences(spark: SparkSession, suite: ZipFile, file: str) -> Iterator[str]:
    """Yield a text for each statement that has another schema, other rows or another condition."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "America/Los_Angeles")
    # Without it, days before 1582 are shown in the Julian calendar.
    session.conf.set("spark.sql.datetime.java8API.enabled", "true")
    for key, value in _settings(suite, file).items():
        session.conf.set(key, value)
    with activated(session):
        for statement, expected in _recorded(suite.read(f"{_RESULTS}{file}.out").decode()):
            found = _outcome(session, statement)
            if found != expected:
                yield f"{statement}: {found} instead of {expected}"


def _settings(suite: ZipFile, file: str) -> dict[str, str]:
    text = suite.read(_INPUTS + file).decode()
    settings: dict[str, str] = {}
    for imported in re.findall(r"^--IMPORT (\S+)", text, re.MULTILINE):
        settings |= _settings(suite, imported)
    for line in re.findall(r"^--SET (.+)", text, re.MULTILINE):
        for key, value in re.findall(r"([\w.]+)\s*=\s*([^,]+(?:,(?![\w.]+\s*=)[^,]+)*)", line):
            settings[key] = value.strip()
    settings.update(conf for folder, conf in _FOLDER_CONF.items() if file.startswith(folder))
    return settings


def _recorded(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each statement, and its schema and rows, or the condition of its error."""
    for block in re.split(r"^-- !query\n", text, flags=re.MULTILINE)[1:]:
        statement, schema, output = re.split(r"^-- !query (?:schema|output)\n", block, flags=re.MULTILINE)
        if _FAILED.match(output):
            condition = re.search(r'"(?:errorClass|condition)" : "(.+)"', output)
            yield statement.strip(), (condition[1] if condition else "",)
        else:
            yield statement.strip(), (schema.strip(), *_lines(output))


def _outcome(session: SparkSession, statement: str) -> tuple[str, ...]:
    try:
        frame = session.sql(statement)
        results = jvm_view(session).org.apache.spark.sql.execution.HiveResult
        rows = results.hiveResultString(executed_plan(frame))
        text = "\n".join(rows.apply(number) for number in range(rows.length()))
        return (java_frame(frame).schema().catalogString(), *_lines(text))
    except PySparkException as error:
        return (error.getCondition() or "",)
    except Py4JJavaError:
        return ("",)


def _lines(output: str) -> list[str]:
    """Sorted, without empty ones: the position of an empty text among rows without an order is not fixed."""
    lines = re.sub(r"#\d+L?", "#x", output).split("\n")
    return sorted(line.rstrip() for line in lines if line.strip())
