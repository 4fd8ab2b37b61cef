"""One update of a pipeline from its files to its tables: collect, resolve, execute."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from lakeward.errors import PipelineError
from lakeward.pipelines import modules
from lakeward.pipelines.blame import clean
from lakeward.pipelines.block import configured
from lakeward.pipelines.checkpoints import Checkpoints
from lakeward.pipelines.collect import Collected, collect
from lakeward.pipelines.continuous import seconds_between, stopping
from lakeward.pipelines.counts import listening
from lakeward.pipelines.entering import entered
from lakeward.pipelines.event_log import EventLog, Origin
from lakeward.pipelines.execute import Executor
from lakeward.pipelines.fingerprint import code_hash
from lakeward.pipelines.live import Live
from lakeward.pipelines.loading import pickle_by_value, user_files, user_modules
from lakeward.pipelines.lock import alone
from lakeward.pipelines.model import DatasetResult, Progress
from lakeward.pipelines.names import Home
from lakeward.pipelines.narrate import Narrator
from lakeward.pipelines.refresh import Selection, select, with_rest
from lakeward.pipelines.resolve import Resolution, resolve
from lakeward.pipelines.results import not_tried
from lakeward.pipelines.running import Setting
from lakeward.pipelines.schema_places import SchemaPlaces
from lakeward.pipelines.snapshots import planned_snapshot
from lakeward.session import is_disk_full, private_tables
from lakeward.sql import NAME_FILE
from lakeward.standins import running

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.pipelines.graph import Graph

__all__ = ["Asked", "OneUpdate"]


@dataclass(frozen=True)
class Asked:
    """What a call of `run` asks for."""

    spark: SparkSession
    sources: list[Path]
    home: Home
    name: str
    storage: Path
    user: str
    root: Path
    conf: dict[str, str]
    refresh: Sequence[str]
    full_refresh: Sequence[str]
    everything: bool
    checkpoints: Sequence[str]
    dry_run: bool
    continuous: bool
    development: bool
    on_event: Callable[[Progress], None] | None

    def again(self) -> Asked:
        """The same without emptying anything: that is done."""
        named = [*self.refresh, *self.full_refresh]
        return replace(self, refresh=named, full_refresh=(), everything=False, checkpoints=())


class OneUpdate:
    def __init__(self, asked: Asked, cause: str = "USER_ACTION") -> None:
        self.asked, self.cause, self.update_id = asked, cause, str(uuid.uuid4())
        self.spark, self.sources, self.home, self.name = asked.spark, asked.sources, asked.home, asked.name
        self.storage, self.conf, self.dry_run = asked.storage, asked.conf, asked.dry_run
        origin = Origin(asked.name, self.update_id, asked.user)
        log = EventLog(self.spark, None if self.dry_run else self.storage / "event_log", origin)
        log.live = None if self.dry_run else Live(self.storage)
        self.narrator = Narrator(log, asked.on_event)
        self.collected: Collected | None = None
        self.resolution = Resolution()
        self.selection = Selection(frozenset(), frozenset())
        self.executor: Executor | None = None
        self.checkpoints = Checkpoints(self.storage)

    @property
    def starts_again(self) -> bool:
        """Whether the update failed for new columns, which the next one knows (spec: cause SCHEMA_CHANGE)."""
        return self.cause != "SCHEMA_CHANGE" and self.executor is not None and self.executor.schema_changed

    def run(self) -> tuple[Any, str | None]:
        """The final state and, unless it is COMPLETED, why."""
        with ExitStack() as stack:
            try:
                if not self.dry_run:
                    stack.enter_context(alone(self.storage, self.name))
                    (self.storage / NAME_FILE).write_text(self.name)
            except PipelineError as busy:
                return "FAILED", str(busy)
            trial = Path(stack.enter_context(TemporaryDirectory(prefix="lakeward-")))
            self.places = SchemaPlaces(self.storage, self.checkpoints, trial)
            stack.enter_context(entered(self.spark, self.home))
            stack.enter_context(configured(self.spark, self.conf))
            try:
                state, error = self._run()
            except KeyboardInterrupt:
                if self.executor is not None:
                    self.executor.stop()
                state, error = "CANCELED", "The update was interrupted."
            return state, self._closed(state, error)

    def _run(self) -> tuple[Any, str | None]:
        self.narrator.created(self.conf, self.spark.version, self.cause)
        self.narrator.tell(Progress("", "", "PLANNING", message="Reading the pipeline's files"))
        folders = tuple(dict.fromkeys([self.asked.root, *(source.parent for source in self.sources)]))
        with running(), modules.serving(), user_modules(folders):
            self.collected = collect(self.spark, self.sources, self.home, folders=folders)
            pickle_by_value(folders)
            if self.collected.errors:
                return "FAILED", _joined(self.collected.errors)
            graph = self.collected.graph
            self.narrator.hooks.set(graph.hooks)
            self.selection = select(
                graph,
                refresh=self.asked.refresh,
                full_refresh=self.asked.full_refresh,
                everything=self.asked.everything,
                checkpoints=self.asked.checkpoints,
            )
            self._take_up_resets(graph)
            private = [dataset.key for dataset in graph if dataset.is_table and dataset.options.private]
            with private_tables(self.spark, self.name, private):
                self._resolve(folders)
                errors = [error for found in self.resolution.errors.values() for error in found]
                if errors:
                    return "FAILED", _joined(errors)
                if self.dry_run:
                    return "COMPLETED", None
                return self._execute(folders)

    def _take_up_resets(self, graph: Graph) -> None:
        """A full refresh that did not end is carried out, whatever was asked for now."""
        rest = [dataset for dataset in graph if self.checkpoints.interrupted(dataset.key)]
        if rest:
            names = ", ".join(dataset.name for dataset in rest)
            text = f"An earlier full refresh did not end: {names} begin anew"
            self.narrator.tell(Progress("", "", "PLANNING", message=text))
            self.selection = with_rest(self.selection, [dataset.key for dataset in rest])

    def _begin_resets(self) -> None:
        """Write down all that will be emptied before anything is: readers first, then what they read.

        So a reader whose table is emptied is emptied as well, wherever the update ends.
        """
        reset = [
            planned
            for planned in self.resolution.plans.values()
            if planned.kind in ("streaming_table", "sink") and planned.dataset.key in self.selection.reset
        ]
        if reset:
            self.narrator.update("RESETTING")
        for planned in reversed(reset):
            self.checkpoints.begin_reset(planned.dataset.key, [flow.name for flow in planned.dataset.flows])

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
        self._begin_resets()
        self.narrator.update("RUNNING")
        self.narrator.events.begin()
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
            production=not self.asked.development,
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
            if self.asked.continuous:
                self._repeat(self.executor)
            else:
                self.executor.run()
        errors = [result.error for result in self.executor.results.values() if result.state == "FAILED"]
        return ("FAILED", "\n".join(filter(None, errors))) if errors else ("COMPLETED", None)

    def _repeat(self, executor: Executor) -> None:
        """Pass after pass; the one that SIGTERM falls into is carried out to its end."""
        pause = seconds_between(self.conf)
        with stopping() as asked:
            executor.run()
            self.narrator.events.flush()
            self.narrator.quiet = True
            while not (executor.has_failed or asked.wait(pause)):
                executor.run_again()
                self.narrator.events.flush_if_due()
        self.narrator.quiet = False
        self.narrator.update("STOPPING")

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
        if self.starts_again:
            text = "New columns were found in the files: the update starts again"
            self.narrator.tell(Progress("", "", "PLANNING", message=text))
            return error
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


def _joined(errors: Sequence[PipelineError]) -> str:
    return "\n".join(dict.fromkeys(str(error) for error in errors))
