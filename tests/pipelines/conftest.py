"""A pipeline of small files, each test in a schema of its own."""

from __future__ import annotations

import textwrap
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from lakeward import pipelines
from lakeward.pipelines import DatasetResult, Progress, Update, UpdateOptions
from lakeward.pipelines.api.modules import serve_modules, serve_tests, stop_serving_tests
from lakeward.pipelines.graph.dataflow_graph import DataflowGraph
from lakeward.pipelines.graph.elements import DefaultSchema
from lakeward.pipelines.sources.collection import CollectedGraph, collect
from lakeward.pipelines.sources.user_modules import user_modules
from lakeward.pipelines.storage import file_replacement
from lakeward.pipelines.storage.delta_tables import load_table
from lakeward.session import Settings, ensure_schema, session, temporary_conf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def alter_dataset(spark: SparkSession, statement: str) -> None:
    """Run an ALTER statement on a dataset, which only the session of its pipeline may."""
    with temporary_conf(spark, {"pipelines.id": "tests"}):
        spark.sql(statement)


class Lab:
    """Write files, run them, look at the tables."""

    def __init__(self, spark: SparkSession, settings: Settings, folder: Path) -> None:
        self.spark, self.settings, self.folder = spark, settings, folder
        self.schema = "p" + uuid.uuid4().hex[:10]
        self.source = self.schema + "src"
        self.storage = folder / "storage"
        self.files = folder / "files"
        self.files.mkdir()
        self.events: list[Progress] = []
        ensure_schema(spark, "main", self.schema)
        ensure_schema(spark, "main", self.source)

    def file(self, name: str, text: str) -> Path:
        path = self.files / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).replace("SRC", f"main.{self.source}"))
        return path

    def seed(self, name: str, query: str) -> None:
        """Append the rows of a query to a table outside of the pipeline."""
        self.spark.sql(query).write.mode("append").saveAsTable(f"main.{self.source}.{name}")

    def run(self, **options: Any) -> Update:
        return pipelines.run(
            [self.files],
            UpdateOptions(
                name=self.schema,
                schema=self.schema,
                storage=self.storage,
                on_event=self.events.append,
                **options,
            ),
            session=self.spark,
            settings=self.settings,
        )

    def done(self, **options: Any) -> Update:
        """Run, and expect that all went well."""
        update = self.run(**options)
        assert update.state == "COMPLETED", update.error
        return update

    def table(self, name: str) -> DataFrame:
        return self.spark.table(f"main.{self.schema}.{name}")

    def rows(self, table: str, columns: str = "*") -> list[tuple[Any, ...]]:
        found = self.spark.sql(f"SELECT {columns} FROM main.{self.schema}.{table}").collect()
        return sorted((tuple(row) for row in found), key=repr)

    def version(self, table: str) -> int:
        stored = load_table(self.spark, ("main", self.schema, table))
        assert stored is not None
        return stored.version

    def tables(self) -> set[str]:
        rows = self.spark.sql(f"SHOW TABLES IN main.{self.schema}").collect()
        return {row["tableName"] for row in rows if not row["isTemporary"]}

    def log(self, where: str = "true") -> list[Any]:
        log = self.spark.read.format("delta").load(str(self.storage / "event_log"))
        return log.where(where).orderBy("sequence.data_plane_id.seq_no").collect()


def result(update: Update, name: str) -> DatasetResult:
    return next(dataset for dataset in update.datasets if dataset.name == name)


@pytest.fixture
def lab(spark: SparkSession, suite_settings: Settings, tmp_path: Path) -> Lab:
    return Lab(spark, suite_settings, tmp_path)


@pytest.fixture(scope="module")
def module_lab(suite_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Lab]:
    """Return a function that makes a pipeline for several tests of one module: run once, assert many.

    Call it in a fixture of the module's scope that runs all updates and returns what the tests look at.
    """

    def make() -> Lab:
        return Lab(session(suite_settings), suite_settings, tmp_path_factory.mktemp("lab"))

    return make


HOME = DefaultSchema("main", "default")
Declare = Callable[..., CollectedGraph]


@pytest.fixture
def declare(tmp_path: Path) -> Declare:
    def read(*texts: str) -> CollectedGraph:
        files = []
        for i, text in enumerate(texts):
            suffix = "sql" if text.startswith("CREATE") else "py"
            files.append(tmp_path / f"file{i}.{suffix}")
            files[-1].write_text(text)
        with serve_modules(), user_modules([tmp_path]):
            spark: Any = SimpleNamespace(named="the session")
            return collect(spark, files, HOME, folders=(tmp_path,))

    return read


@pytest.fixture
def without_the_plugin() -> Iterator[None]:
    """`pyspark.pipelines` as it is where no tests run."""
    stop_serving_tests()
    yield
    serve_tests()


def graph(collected: CollectedGraph) -> DataflowGraph:
    assert not collected.errors, [str(error) for error in collected.errors]
    return collected.graph


LIMITS = {"rewrites": {}, "marks": {"MAX_REWRITTEN_BYTES": -1}, "merges": {"MAX_REPLACED_BYTES": -1}}
"""The limits by which rows of a view's files are replaced in one way, whatever their size."""
# Files of a few rows have about as many bytes.
_MIXED = {"mixes": {"MAX_REWRITTEN_BYTES": 1500}}


def replace_rows(patch: pytest.MonkeyPatch, way: str) -> None:
    """Replace rows of views in one of the ways of `LIMITS`; `mixes`: mark some, and rewrite other files."""
    for name, limit in (LIMITS | _MIXED)[way].items():
        patch.setattr(file_replacement, name, limit)
