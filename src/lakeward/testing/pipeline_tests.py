"""`pyspark.pipelines.testing`: unit tests of a pipeline, on tables of one test alone.

On Databricks the test session redirects names of tables to a temporary schema. Here each test has an empty
warehouse, in which tables have their own names; catalogs and schemas are created when a name needs them.
Paths are not redirected, as there: volumes, DBFS and mounts are those of the suite.
"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from lakeward import patching
from lakeward.errors import ConfigurationError, PipelineError
from lakeward.patching import Order, PatchSpec, Wrapped
from lakeward.quoting import quote_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.bundle import Bundle
    from lakeward.pipelines import DatasetResult, Update
    from lakeward.session import Settings

Namespace = tuple[str, str]
_CREATIONS = 20  # more catalogs and schemas than one statement names
_STORAGE = ".pipelines"  # of checkpoints, in the warehouse of a test


@dataclass(frozen=True)
class FlowInfo:
    """The result of one table: what `TestRunStatus.flow_info` has of it."""

    name: str
    records_written: int | None
    dataset: DatasetResult


@dataclass(frozen=True)
class TestRunStatus:
    """What `TestPipeline.run` returns: an update that has completed.

    `flow_info` has the full names of the tables as keys.
    """

    __test__ = False

    update_id: str
    event_log_table_name: str
    flow_info: dict[str, FlowInfo]
    is_success: bool = True
    error_class: str | None = None
    error_message: str | None = None


class TestPipeline:
    """The pipeline that the file of a test belongs to."""

    __test__ = False

    def __init__(self, file: Path) -> None:
        self._file = file

    @classmethod
    def active(cls) -> TestPipeline:
        """Return the pipeline of the calling file: that of its bundle, or of the sources around it."""
        return cls(Path(sys._getframe(1).f_code.co_filename).absolute())

    def run(self, spark: SparkSession, tables: Collection[str] = ()) -> TestRunStatus:
        """Refresh `tables`, and no others, on the tables that `spark` sees; without names, all of them.

        Raises PipelineError (UPDATE_FAILED) where the update does not complete, and ConfigurationError where
        the pipeline of the test is unknown.
        """
        if isinstance(tables, str):
            raise TypeError(f"run() takes a set of names of tables, not the name {tables!r}")
        from lakeward.bundle import find_root

        root = find_root(self._file.parent)
        name = f"event_log_{uuid.uuid4().hex[:8]}"
        update, namespace = (
            _update_of_sources(spark, self._file, sorted(tables), name)
            if root is None
            else _update_of_bundle(root, self._file, sorted(tables), name)
        )
        if update.state != "COMPLETED":
            failed = [f"{each.name}: {each.error}" for each in update.datasets if each.error]
            text = update.error or "\n".join(failed) or update.state
            advice = "Tables that the refreshed ones read are created by the test, or named in run() as well."
            is_missing = "[TABLE_OR_VIEW_NOT_FOUND]" in text
            raise PipelineError("UPDATE_FAILED", text, next_step=advice if is_missing else None)
        flows = {
            _full_name(each, namespace): FlowInfo(each.name, each.rows_written, each)
            for each in update.datasets
            if each.kind not in ("view", "sink")
        }
        return TestRunStatus(update.update_id, quote_name([*namespace, name]), flows)


def _full_name(dataset: DatasetResult, namespace: Namespace) -> str:
    parts = dataset.name.replace("`", "").split(".")
    return ".".join([*namespace[: max(0, 3 - len(parts))], *parts])


def _settings() -> Settings:
    from lakeward.session import current_settings

    settings = current_settings()
    if settings is None:
        raise PipelineError(
            "NO_TEST_SESSION",
            "run() takes the session of the fixture test_spark.",
            next_step="Add the parameter test_spark to the test function.",
        )
    return settings


def _update_of_bundle(root: Path, file: Path, tables: list[str], event_log: str) -> tuple[Update, Namespace]:
    """Run the update of the pipeline of `file` and return it with its catalog and schema."""
    from lakeward.bundle import load
    from lakeward.jobs import PipelineSelection, run_pipeline

    bundle, settings = load(root), _settings()
    key = pipeline_of(bundle, file)
    pipeline = bundle.pipeline(key)
    schema = pipeline.get("schema") or pipeline.get("target") or settings.schema
    namespace = str(pipeline.get("catalog") or settings.catalog), str(schema)
    update = run_pipeline(
        bundle,
        key,
        settings=settings,
        selection=PipelineSelection(refresh=tuple(tables), only_selected=bool(tables)),
        storage=settings.warehouse / _STORAGE / key,
        event_log=quote_name([*namespace, event_log]),
    )
    return update, namespace


def _update_of_sources(
    spark: SparkSession, file: Path, tables: list[str], event_log: str
) -> tuple[Update, Namespace]:
    """Run the update of the sources around `file`; the names of `tables` have catalog and schema."""
    from lakeward.pipelines import UpdateOptions, run
    from lakeward.session import ensure_schema

    settings, folder = _settings(), sources_around(file)
    parts = next((name.replace("`", "").split(".") for name in tables if name.count(".") == 2), None)
    catalog, schema = (parts[0], parts[1]) if parts else (settings.catalog, settings.schema)
    ensure_schema(spark, catalog, schema)
    options = UpdateOptions(
        catalog=catalog,
        schema=schema,
        root=folder,
        storage=settings.warehouse / _STORAGE / "sources",
        event_log=quote_name([catalog, schema, event_log]),
        refresh=tables,
        only_selected=bool(tables),
    )
    return run(source_files(folder), options, session=spark, settings=settings), (catalog, schema)


def pipeline_of(bundle: Bundle, file: Path) -> str:
    """Return the key of the pipeline whose folder has `file`, or is nearest to it.

    Raises ConfigurationError (TEST_PIPELINE_UNKNOWN, TEST_PIPELINE_AMBIGUOUS).
    """
    from lakeward.jobs import sources

    shared: dict[str, int] = {}
    for key, pipeline in bundle.pipelines.items():
        root = pipeline.get("root_path")
        try:
            places = [bundle.root / root] if root else sources(bundle.root, key, pipeline)
        except ConfigurationError:
            continue
        shared[key] = max(_common_parts(Path(place), file) for place in places)
    if not shared:
        raise ConfigurationError(
            "TEST_PIPELINE_UNKNOWN",
            f"The bundle in {bundle.root} has no pipeline for the tests in {file}.",
            next_step="Declare the pipeline as a resource of the bundle.",
        )
    nearest = [key for key, count in shared.items() if count == max(shared.values())]
    if len(nearest) > 1:
        raise ConfigurationError(
            "TEST_PIPELINE_AMBIGUOUS",
            f"The tests in {file} may be those of several pipelines: {', '.join(nearest)}.",
            next_step="Put them into the folder of their pipeline, and give it that folder as root_path.",
        )
    return nearest[0]


def _common_parts(place: Path, file: Path) -> int:
    pairs = zip(place.resolve().parts, file.resolve().parts, strict=False)
    return next((count for count, (mine, other) in enumerate(pairs) if mine != other), len(place.parts))


def sources_around(file: Path) -> Path:
    """Return the nearest folder above `file` with sources of a pipeline. Raises ConfigurationError."""
    for folder in file.parents:
        if (folder / ".git").exists() or source_files(folder):
            if source_files(folder):
                return folder
            break
    raise ConfigurationError(
        "TEST_PIPELINE_UNKNOWN",
        f"There are neither a bundle nor sources of a pipeline around the tests in {file}.",
        next_step="Put the tests next to the sources of their pipeline, or into a bundle.",
    )


def source_files(folder: Path) -> list[Path]:
    """Return the files of `folder` that declare datasets; tests and environments are left out."""
    return [
        path
        for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.sql")])
        if not {"tests", "test"} & {*path.relative_to(folder).parts[:-1]}
        and not any(part.startswith((".", "test_")) for part in path.relative_to(folder).parts)
        and _declares(path)
    ]


def _declares(path: Path) -> bool:
    text = path.read_text(errors="replace")
    if path.suffix == ".sql":
        upper = text.upper()
        return any(words in upper for words in ("STREAMING TABLE", "MATERIALIZED VIEW", "LIVE TABLE"))
    return any(f"{word}." in text for word in ("dp", "dlt")) and (
        "import dlt" in text or "pyspark.pipelines" in text or "pipelines as dp" in text
    )


@contextmanager
def isolated_tables(folder: Path) -> Iterator[SparkSession]:
    """Give the session an empty warehouse in `folder` until the block ends."""
    from lakeward.session import Settings, current_settings, resume_session, session

    before = current_settings() or Settings.here()
    outer = session(before)
    added = patching.install(PATCHES)
    try:
        yield session(before.with_(warehouse_dir=folder))
    finally:
        patching.uninstall(added)
        resume_session(outer, before)


@pytest.fixture
def test_spark(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkSession]:
    """Yield a session whose tables are those of this test alone."""
    # The suite's own `spark`, where it has one, decides with which settings the session starts.
    request.getfixturevalue("spark")
    with isolated_tables(tmp_path_factory.mktemp("pipeline")) as spark:
        yield spark


def fill(module: ModuleType) -> None:
    """Provide the names of `pyspark.pipelines.testing` in `module`."""
    vars(module).update(TestPipeline=TestPipeline, test_spark=test_spark)
    vars(module)["__all__"] = ["TestPipeline", "test_spark"]


def _creating(before: Wrapped) -> Any:
    from pyspark.errors import AnalysisException

    @wraps(before)
    def creating(self: Any, *arguments: Any, **named: Any) -> Any:
        for _ in range(_CREATIONS):
            try:
                return before(self, *arguments, **named)
            except AnalysisException as error:
                if not _create_missing(getattr(self, "_spark", self), str(error)):
                    raise
        return before(self, *arguments, **named)

    return creating


def _create_missing(spark: SparkSession, error: str) -> bool:
    """Create the catalog or schema that the `error` misses; return whether there is a new one."""
    from lakeward.session import missing_catalog, missing_schema

    catalog, schema = missing_catalog(error), missing_schema(error)
    if catalog is not None:
        spark.sql(f"CREATE CATALOG IF NOT EXISTS {quote_name([catalog])}")
    elif schema is not None:
        spark.sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    return catalog is not None or schema is not None


PATCHES = tuple(
    PatchSpec(
        owner,
        name,
        "pipeline tests",
        "names in unit tests of pipelines need no schema",
        _creating,
        Order.FALLBACK,
    )
    for owner, name in (
        ("pyspark.sql.session:SparkSession", "sql"),
        ("pyspark.sql.readwriter:DataFrameWriter", "saveAsTable"),
        ("pyspark.sql.readwriter:DataFrameWriterV2", "create"),
        ("pyspark.sql.readwriter:DataFrameWriterV2", "createOrReplace"),
    )
)
