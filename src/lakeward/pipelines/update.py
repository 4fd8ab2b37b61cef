"""One update of a pipeline from its files to its tables: collect, resolve, execute."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from lakeward.errors import ConfigurationError, PipelineError
from lakeward.pipelines import modules, sources
from lakeward.pipelines.blame import clean
from lakeward.pipelines.checkpoints import Checkpoints
from lakeward.pipelines.collect import Collected, collect, common_root
from lakeward.pipelines.counts import listening
from lakeward.pipelines.evaluate import settings as spark_settings
from lakeward.pipelines.event_log import EventLog, Origin
from lakeward.pipelines.execute import Executor, Setting
from lakeward.pipelines.fingerprint import code_hash
from lakeward.pipelines.live import Live
from lakeward.pipelines.loading import pickle_by_value, user_files, user_modules
from lakeward.pipelines.lock import alone
from lakeward.pipelines.model import DatasetResult, Progress, Update
from lakeward.pipelines.names import Home
from lakeward.pipelines.narrate import Narrator
from lakeward.pipelines.refresh import Selection, select
from lakeward.pipelines.resolve import Resolution, resolve
from lakeward.pipelines.results import not_tried
from lakeward.pipelines.schema_places import SchemaPlaces
from lakeward.pipelines.snapshots import planned_snapshot
from lakeward.session import is_disk_full
from lakeward.standins import running

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.session import Settings

__all__ = ["run"]


def run(
    paths: Sequence[Path],
    *,
    session: SparkSession | None = None,
    settings: Settings | None = None,
    name: str = "pipeline",
    catalog: str | None = None,
    schema: str | None = None,
    configuration: Mapping[str, str] | None = None,
    root: Path | None = None,
    storage: Path | None = None,
    refresh: Sequence[str] = (),
    full_refresh: Sequence[str] = (),
    full_refresh_all: bool = False,
    dry_run: bool = False,
    on_event: Callable[[Progress], None] | None = None,
) -> Update:
    """Run the pipeline that the files at `paths` declare, and report what it did.

    `storage` holds checkpoints, the event log and the lock (default: the target's folder `pipelines/<name>`).
    `dry_run` stops after phase 1 and writes nothing. A mistake in a user's file, a failing flow or a running
    update of the same pipeline gives an Update with state FAILED; Ctrl-C one with state CANCELED. Raises
    ConfigurationError for paths, names and flags that make no sense.
    """
    from lakeward.session import Settings, current_settings
    from lakeward.session import session as make_session

    started = time.monotonic()
    found = sources.find([Path(path) for path in paths])
    where = settings or current_settings() or Settings.here(root)
    spark = session or make_session(where)
    home = Home(catalog or where.catalog, schema or where.schema)
    storage = storage or where.pipelines / name
    update_id = str(uuid.uuid4())
    log = EventLog(spark, None if dry_run else storage / "event_log", Origin(name, update_id, where.user))
    log.live = None if dry_run else Live(storage)
    one = _OneUpdate(spark, found, home, name, storage, update_id, Narrator(log, on_event), dry_run)
    one.root = (root or common_root(found)).absolute()
    one.conf = {str(key): str(value) for key, value in (configuration or {}).items()}
    one.refresh, one.full_refresh, one.everything = refresh, full_refresh, full_refresh_all
    state, error = one.run()
    return Update(update_id, state, one.results(), time.monotonic() - started, error)


class _OneUpdate:
    root: Path
    conf: dict[str, str]
    refresh: Sequence[str]
    full_refresh: Sequence[str]
    everything: bool

    def __init__(
        self,
        spark: SparkSession,
        found: list[Path],
        home: Home,
        name: str,
        storage: Path,
        update_id: str,
        narrator: Narrator,
        dry_run: bool,
    ) -> None:
        self.spark, self.sources, self.home, self.name = spark, found, home, name
        self.storage, self.update_id, self.narrator, self.dry_run = storage, update_id, narrator, dry_run
        self.collected: Collected | None = None
        self.resolution = Resolution()
        self.selection = Selection(frozenset(), frozenset())
        self.executor: Executor | None = None
        self.checkpoints = Checkpoints(storage)

    def run(self) -> tuple[Any, str | None]:
        """The final state and, unless it is COMPLETED, why."""
        with ExitStack() as stack:
            try:
                if not self.dry_run:
                    stack.enter_context(alone(self.storage, self.name))
            except PipelineError as busy:
                return "FAILED", str(busy)
            trial = Path(stack.enter_context(TemporaryDirectory(prefix="lakeward-")))
            self.places = SchemaPlaces(self.storage, self.checkpoints, trial)
            stack.enter_context(_entered(self.spark, self.home))
            stack.enter_context(_configured(self.spark, self.conf))
            try:
                state, error = self._run()
            except KeyboardInterrupt:
                if self.executor is not None:
                    self.executor.stop()
                state, error = "CANCELED", "The update was interrupted."
            return state, self._closed(state, error)

    def _run(self) -> tuple[Any, str | None]:
        self.narrator.created(self.conf, self.spark.version)
        self.narrator.tell(Progress("", "", "PLANNING", message="Reading the pipeline's files"))
        folders = tuple(dict.fromkeys([self.root, *(source.parent for source in self.sources)]))
        with running(), modules.serving(), user_modules(folders):
            self.collected = collect(self.spark, self.sources, self.home, folders=folders)
            pickle_by_value(folders)
            if self.collected.errors:
                return "FAILED", _joined(self.collected.errors)
            graph = self.collected.graph
            self.narrator.hooks.set(graph.hooks)
            self.selection = select(
                graph, refresh=self.refresh, full_refresh=self.full_refresh, everything=self.everything
            )
            self._resolve(folders)
            errors = [error for found in self.resolution.errors.values() for error in found]
            if errors:
                return "FAILED", _joined(errors)
            if self.dry_run:
                return "COMPLETED", None
            return self._execute(folders)

    def _resolve(self, folders: tuple[Path, ...]) -> None:
        from lakeward.session import planned

        assert self.collected is not None
        self.narrator.update("INITIALIZING")
        with planned(self.spark) as planning:
            self.resolution = resolve(
                self.spark,
                self.collected.graph,
                planning,
                owner=self.name,
                schema_place=self.places.tried,
                bind=lambda flow: planned_snapshot(self.spark, flow, self.checkpoints, self.selection.reset),
                resets=self.selection.reset,
                folders=folders,
            )
        self.narrator.defined(self.resolution)

    def _execute(self, folders: tuple[Path, ...]) -> tuple[Any, str | None]:
        from lakeward.session import ensure_schema

        assert self.collected is not None
        graph = self.collected.graph
        for catalog, schema in {dataset.key[:2] for dataset in graph if dataset.is_table}:
            ensure_schema(self.spark, catalog, schema)
        pickle_by_value(folders)
        self.narrator.update("RUNNING")
        for planned in self.resolution.plans.values():
            inputs = tuple(sorted({name for direct in planned.direct.values() for name in direct}))
            self.narrator.tell(Progress(planned.dataset.name, planned.kind, "QUEUED", inputs=inputs))
            for flow in planned.dataset.flows:
                self.narrator.flow(planned.dataset, flow.name, "QUEUED")
        setting = Setting(
            self.name,
            self.update_id,
            code_hash([*self.sources, *user_files(folders)]),
            self.conf,
            folders,
            self.places.real,
        )
        with listening(self.spark) as metrics:
            self.executor = Executor(
                self.spark,
                graph,
                self.resolution,
                self.selection,
                self.checkpoints,
                metrics,
                self.narrator,
                setting,
            )
            self.executor.run()
        errors = [result.error for result in self.executor.results.values() if result.state == "FAILED"]
        return ("FAILED", "\n".join(filter(None, errors))) if errors else ("COMPLETED", None)

    def _closed(self, state: str, error: str | None) -> str | None:
        """Write the rest of the event log; a failure to do so is told, and changes no table."""
        self.narrator.update(state, error=error)
        try:
            self.narrator.events.flush()
        except Exception as broken:  # noqa: BLE001  # whatever it is, the tables stand
            why = "no space was left on the disk." if is_disk_full(broken) else clean(broken)
            text = f"[EVENT_LOG_NOT_WRITTEN] The event log of `{self.name}` could not be written: {why}"
            self.narrator.tell(Progress("", "", "FAILED", message=text))
            error = f"{error}\n{text}" if error else text
        self.narrator.tell(
            Progress("", "", "COMPLETED" if state == "COMPLETED" else "FAILED", message=error or "")
        )
        return error

    def results(self) -> tuple[DatasetResult, ...]:
        """Every dataset of the graph in the order of declaration, whatever became of it."""
        if self.collected is None:
            return ()
        done = self.executor.results if self.executor else {}
        return tuple(
            done.get(dataset.key) or not_tried(dataset, self.resolution, dry_run=self.dry_run)
            for dataset in self.collected.graph
        )


@contextmanager
def _entered(spark: SparkSession, home: Home) -> Iterator[None]:
    """A block whose current catalog and schema are the pipeline's."""
    from lakeward.session import ensure_catalog

    manager = spark._jsparkSession.sessionState().catalogManager()
    catalog, namespace = manager.currentCatalog().name(), list(manager.currentNamespace())
    ensure_catalog(spark, home.catalog)
    _go_to(spark, home.catalog, [home.schema])
    try:
        yield
    finally:
        _go_to(spark, catalog, namespace)


def _go_to(spark: SparkSession, catalog: str, namespace: list[str]) -> None:
    manager = spark._jsparkSession.sessionState().catalogManager()
    jvm: Any = spark._jvm
    gateway: Any = spark.sparkContext._gateway
    parts = gateway.new_array(jvm.java.lang.String, len(namespace))
    for i, part in enumerate(namespace):
        parts[i] = part
    manager.setCurrentCatalog(catalog)
    manager.setCurrentNamespace(parts)


@contextmanager
def _configured(spark: SparkSession, conf: Mapping[str, str]) -> Iterator[None]:
    from pyspark.errors import PySparkException

    with ExitStack() as stack:
        try:
            stack.enter_context(spark_settings(spark, conf))
        except PySparkException as error:
            raise ConfigurationError(
                error.getCondition() or "INVALID_CONFIGURATION",
                f"The pipeline's configuration cannot be applied: {error}",
                next_step="Settings of the Spark application itself belong into the session's configuration.",
            ) from None
        yield


def _joined(errors: Sequence[PipelineError]) -> str:
    return "\n".join(dict.fromkeys(str(error) for error in errors))
