"""One update of a pipeline from its files to its tables: collect, select, analyze, reset, execute.

An update that finds new columns in its input is followed by a second one."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from lakeward.databricks_shims import use_surroundings
from lakeward.errors import PipelineError
from lakeward.notebooks import notebook_packages
from lakeward.pipelines.analysis.dataset_selection import select_datasets, with_interrupted_resets
from lakeward.pipelines.analysis.graph_resolution import GraphResolver
from lakeward.pipelines.api.modules import serve_modules
from lakeward.pipelines.events.event_log import EventFileWriter, EventLog, EventOrigin, publish_table
from lakeward.pipelines.events.progress_reporter import ProgressReporter
from lakeward.pipelines.execution.catalog_views import create_views
from lakeward.pipelines.execution.flow_execution import ExecutionContext
from lakeward.pipelines.execution.graph_execution import GraphExecution
from lakeward.pipelines.execution.update_context import (
    PipelineUpdateContext,
    UpdateOptions,
    stop_on_sigterm,
    trigger_interval,
    update_lock,
)
from lakeward.pipelines.graph.dataflow_graph import (
    DataflowGraph,
    RefreshSelection,
    ResolvedDataset,
    ResolvedGraph,
)
from lakeward.pipelines.graph.elements import DefaultSchema, Key, split_name
from lakeward.pipelines.graph.error_location import error_message
from lakeward.pipelines.graph.results import DatasetResult, Progress, Update, unreached_result
from lakeward.pipelines.graph.session_scope import pipeline_conf, use_default_schema
from lakeward.pipelines.sources.collection import collect
from lakeward.pipelines.sources.source_files import common_root, find_sources
from lakeward.pipelines.sources.user_modules import code_hash, pickle_by_value, user_files, user_modules
from lakeward.pipelines.storage.checkpoints import Checkpoints, SchemaLocations
from lakeward.pipelines.storage.delta_tables import listen_to_writes
from lakeward.pipelines.writers.auto_cdc import as_analysis_flow
from lakeward.quoting import quote_name
from lakeward.session import allow_settings, dbfs_paths, is_disk_full, keep_interrupts, private_tables
from lakeward.sql import NAME_FILE
from lakeward.update_states import UpdateState

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.session import Settings


_CANCELED: tuple[UpdateState, str] = ("CANCELED", "The update was interrupted.")


@dbfs_paths()
def run(
    paths: Sequence[Path],
    options: UpdateOptions | None = None,
    *,
    session: SparkSession | None = None,
    settings: Settings | None = None,
) -> Update:
    """Run one update of the pipeline that the files at `paths` declare.

    An update that finds new columns in its input files is started a second time, once. Errors in user files,
    failed flows and a concurrent update of the same pipeline result in an Update with the state FAILED;
    Ctrl-C in one with the state CANCELED.

    Args:
        paths: Source files, folders or globs.
        options: Options of the update.
        session: The Spark session; default: the session of `settings`.
        settings: Lakehouse settings; default: those of the running session, or of the project at `root`.

    Returns:
        The result of the update and of each dataset.

    Raises:
        ConfigurationError: Invalid paths, dataset names or combinations of options.
    """
    context = _context(paths, options or UpdateOptions(), session, settings)
    if context.options.continuous:
        trigger_interval(context.conf)
    return run_update(context)


def run_update(context: PipelineUpdateContext) -> Update:
    """Run an update, and again while it ends with new columns. Paths follow the rule in force."""
    execution = PipelineExecution(context)
    update = execution.run()
    while execution.restarts:
        # New columns that a restart does not add would be found again.
        execution = PipelineExecution(context.after_schema_change(), known=update.error)
        following = execution.run()
        update = replace(following, seconds=update.seconds + following.seconds)
    return update


def _context(
    paths: Sequence[Path],
    options: UpdateOptions,
    session: SparkSession | None,
    settings: Settings | None,
) -> PipelineUpdateContext:
    from lakeward.session import Settings, current_settings
    from lakeward.session import session as make_session

    sources = find_sources([Path(path) for path in paths])
    settings = settings or current_settings() or Settings.here(options.root)
    return PipelineUpdateContext(
        spark=session or make_session(settings),
        sources=tuple(sources),
        default_schema=DefaultSchema(options.catalog or settings.catalog, options.schema or settings.schema),
        root=(options.root or common_root(sources)).absolute(),
        storage=options.storage or settings.pipelines / options.name,
        user=settings.user,
        conf={str(key): str(value) for key, value in (options.configuration or {}).items()},
        options=options,
    )


class UpdateFailedError(Exception):
    """Ends an update with the state FAILED; its text is the error of the update."""


class PipelineExecution:
    """One update of a pipeline.

    The update collects the graph that the source files declare, selects the datasets to refresh, analyzes all
    flows on empty tables, records the tables to reset, and executes the flows. Each step takes the values of
    the steps before it. `results` holds the current result of every collected dataset at any time, so that
    failures and interrupts report what was reached.
    """

    def __init__(self, context: PipelineUpdateContext, *, known: str | None = None) -> None:
        self.context, self.options, self.spark = context, context.options, context.spark
        self.name, self.update_id = context.options.name, str(uuid.uuid4())
        self.results: dict[Key, DatasetResult] = {}
        self.checkpoints = Checkpoints(context.storage)
        self._schema_changed, self._known = False, known
        self.reporter = ProgressReporter(self._event_log(), context.options.on_event)

    def run(self) -> Update:
        """Run the update. Raises ConfigurationError for invalid options; other errors are in the result."""
        started = time.monotonic()
        state, error = self._run_locked()
        return Update(self.update_id, state, tuple(self.results.values()), time.monotonic() - started, error)

    @property
    def restarts(self) -> bool:
        """Return whether the update failed on new columns, which the next update includes (SDP-4.13)."""
        return self._schema_changed

    def _run_locked(self) -> tuple[UpdateState, str | None]:
        with ExitStack() as scope:
            try:
                if not self.options.dry_run:
                    scope.enter_context(update_lock(self.context.storage, self.name))
                    (self.context.storage / NAME_FILE).write_text(self.name)
            except PipelineError as locked:
                return "FAILED", str(locked)
            temporary = Path(scope.enter_context(TemporaryDirectory(prefix="lakeward-")))
            scope.enter_context(use_default_schema(self.spark, self.context.default_schema))
            scope.enter_context(pipeline_conf(self.spark, self.context.session_conf))
            state: UpdateState = "COMPLETED"
            error: str | None = None
            with ExitStack() as user_code:
                try:
                    with keep_interrupts():
                        self._run_steps(temporary, user_code)
                except UpdateFailedError as failure:
                    state, error = "FAILED", str(failure)
                except KeyboardInterrupt:
                    state, error = _CANCELED
                # In the scope of the user's code: event hooks are called with the last state, too.
                return state, self._finish(state, error)

    def _run_steps(self, temporary: Path, scope: ExitStack) -> None:
        """Run the update. `scope` holds the context managers of user modules and private tables."""
        graph = self._collect(scope)
        selection = self._select(graph)
        if self.options.only_selected:
            graph = self._reduced(graph, graph.without_tables(selection.refresh))
        locations = SchemaLocations(self.context.storage, self.checkpoints, temporary, selection)
        resolved_graph = self._analyze(graph, selection, locations)
        if self.options.only_selected:
            graph = self._reduced(graph, replace(graph, datasets=(*graph.only(resolved_graph.datasets),)))
        elif resolved_graph.blocked:
            graph = replace(graph, datasets=(*graph.only(resolved_graph.datasets),))
        if not self.options.dry_run:
            self._reset(resolved_graph, selection)
            self._execute(graph, resolved_graph, selection, locations)

    def _reduced(self, graph: DataflowGraph, reduced: DataflowGraph) -> DataflowGraph:
        """Return `reduced`, and leave what it lacks out of the results."""
        for dataset in graph:
            if dataset not in reduced.datasets:
                del self.results[dataset.key]
        return reduced

    def _collect(self, scope: ExitStack) -> DataflowGraph:
        """Execute the source files; their modules stay imported until `scope` ends."""
        context = self.context
        self.reporter.update_created(context.conf, self.spark.version, context.cause)
        self.reporter.emit(Progress("", "", "PLANNING", message="Reading the pipeline's files"))
        scope.enter_context(use_surroundings())
        scope.enter_context(serve_modules())
        scope.enter_context(allow_settings())
        scope.enter_context(user_modules(context.folders))
        scope.enter_context(notebook_packages())
        collected = collect(self.spark, context.sources, context.default_schema, folders=context.folders)
        pickle_by_value(context.folders)
        graph = collected.graph
        self._record_unreached(graph, ResolvedGraph())
        _raise_errors(collected.errors)
        self.reporter.hooks.set(graph.hooks)
        private = [dataset.key for dataset in graph if dataset.is_table and dataset.options.private]
        scope.enter_context(private_tables(self.spark, self.name, private))
        return graph

    def _select(self, graph: DataflowGraph) -> RefreshSelection:
        """Select the datasets that the options name, and those whose full refresh was interrupted."""
        selection = select_datasets(
            graph,
            refresh=self.options.refresh,
            full_refresh=self.options.full_refresh,
            everything=self.options.full_refresh_all,
            checkpoints=self.options.reset_checkpoints,
        )
        interrupted = [dataset for dataset in graph if self.checkpoints.is_resetting(dataset.key)]
        if not interrupted:
            return selection
        names = ", ".join(dataset.name for dataset in interrupted)
        text = f"Completing an interrupted full refresh: {names}"
        self.reporter.emit(Progress("", "", "PLANNING", message=text))
        return with_interrupted_resets(selection, [dataset.key for dataset in interrupted])

    def _analyze(
        self, graph: DataflowGraph, selection: RefreshSelection, locations: SchemaLocations
    ) -> ResolvedGraph:
        """Evaluate all flows on empty tables; report all errors together."""
        from lakeward.session import schema_only_tables

        self.reporter.update_state("INITIALIZING")
        with schema_only_tables(self.spark) as planning:
            resolver = GraphResolver(
                spark=self.spark,
                graph=graph,
                planning=planning,
                owner=self.name,
                schema_location=locations.for_analysis,
                bind=lambda flow: as_analysis_flow(self.spark, flow, self.checkpoints, selection.reset),
                resets=selection.reset,
                folders=self.context.folders,
            )
            resolved_graph = resolver.resolve()
        self.reporter.graph_defined(resolved_graph)
        self._record_unreached(graph, resolved_graph)
        # Without the other tables, a view may be one that no selected table reads.
        keys = selection.refresh if self.options.only_selected else resolved_graph.errors
        _raise_errors(resolved_graph.causes(keys))
        return resolved_graph

    def _reset(self, resolved_graph: ResolvedGraph, selection: RefreshSelection) -> None:
        """Create the schemas, and record all tables to truncate before any is: readers first.

        If the update ends early, the next one truncates every reader of a truncated table as well.
        """
        from lakeward.session import ensure_schema

        resolved = list(resolved_graph.datasets.values())
        kept = (each.dataset for each in resolved if each.dataset.is_table or each.dataset.definition)
        for catalog, schema in {dataset.key[:2] for dataset in kept}:
            ensure_schema(self.spark, catalog, schema)
        pickle_by_value(self.context.folders)
        resets = [each.dataset for each in resolved if _is_reset(each, selection)]
        if resets:
            self.reporter.update_state("RESETTING")
        for dataset in reversed(resets):
            self.checkpoints.begin_reset(dataset.key, [flow.name for flow in dataset.flows])

    def _execute(
        self,
        graph: DataflowGraph,
        resolved_graph: ResolvedGraph,
        selection: RefreshSelection,
        locations: SchemaLocations,
    ) -> None:
        """Run the selected flows, once or continuously."""
        self.reporter.update_state("RUNNING")
        self.reporter.events.start_early_write()
        self.reporter.graph_queued(resolved_graph)
        context, folders = self.context, self.context.folders
        with listen_to_writes(self.spark) as metrics:
            execution = GraphExecution(
                graph,
                resolved_graph,
                selection,
                ExecutionContext(
                    spark=self.spark,
                    checkpoints=self.checkpoints,
                    metrics=metrics,
                    schema_location=locations.for_execution,
                    owner=self.name,
                    update_id=self.update_id,
                    code=code_hash([*context.sources, *user_files(folders, context.sources)]),
                    conf=context.conf,
                    folders=folders,
                    production=not self.options.development,
                    now=self.options.now,
                ),
                self.reporter,
                self.results,
            )
            if self.options.continuous:
                self._repeat(execution)
            else:
                execution.run()
            self.reporter.operators_measured(execution.slowest_operators())
        if execution.has_failed:
            error = "\n".join(execution.errors)
            self._schema_changed = execution.schema_changed and error != self._known
            raise UpdateFailedError(error)
        if errors := create_views(self.spark, graph, context.default_schema):
            raise UpdateFailedError("\n".join(errors))

    def _repeat(self, execution: GraphExecution) -> None:
        """Run pass after pass; SIGTERM ends the update after the current one."""
        interval = trigger_interval(self.context.conf)
        with stop_on_sigterm() as stop:
            execution.run()
            self.reporter.events.flush()
            self.reporter.quiet = True
            while not (execution.has_failed or stop.wait(interval)):
                execution.run_again()
                self.reporter.events.flush_if_due()
        self.reporter.quiet = False
        self.reporter.update_state("STOPPING")

    def _finish(self, state: UpdateState, error: str | None) -> str | None:
        """Write the rest of the event log; if that fails, add it to the error. Tables are not affected."""
        self.reporter.update_state(state, error=error)
        try:
            self.reporter.events.flush()
            self._publish_events()
        except Exception as failure:  # noqa: BLE001  # whatever failed, the tables are complete
            reason = "no space is left on the disk." if is_disk_full(failure) else error_message(failure)
            text = f"[EVENT_LOG_NOT_WRITTEN] The event log of `{self.name}` could not be written: {reason}"
            self.reporter.emit(Progress("", "", "FAILED", message=text))
            error = f"{error}\n{text}" if error else text
        if self.restarts:
            text = "New columns were found: the update is restarted"
            self.reporter.emit(Progress("", "", "PLANNING", message=text))
            return error
        self.reporter.emit(
            Progress("", "", "COMPLETED" if state == "COMPLETED" else "FAILED", message=error or "")
        )
        return error

    def _publish_events(self) -> None:
        """Make the event log a table of the catalog (SDP-6.1): its files stay in the pipeline's folder."""
        path = self.reporter.events.path
        if self.options.event_log is None or path is None or not (path / "_delta_log").is_dir():
            return
        name = self.context.default_schema.qualify(split_name(self.options.event_log))
        publish_table(self.spark, quote_name(name), path)

    def _event_log(self) -> EventLog:
        storage = None if self.options.dry_run else self.context.storage
        origin = EventOrigin(self.name, self.update_id, self.context.user)
        if storage is None:
            return EventLog(self.spark, None, origin)
        return EventLog(self.spark, storage / "event_log", origin, event_file=EventFileWriter(storage))

    def _record_unreached(self, graph: DataflowGraph, resolved_graph: ResolvedGraph) -> None:
        for each in graph:
            self.results[each.key] = unreached_result(each, resolved_graph, dry_run=self.options.dry_run)


def _is_reset(resolved: ResolvedDataset, selection: RefreshSelection) -> bool:
    return resolved.kind in ("streaming_table", "sink") and resolved.dataset.key in selection.reset


def _raise_errors(errors: Iterable[PipelineError]) -> None:
    texts = list(dict.fromkeys(str(error) for error in errors))
    if texts:
        raise UpdateFailedError("\n".join(texts))
