"""Phase 2: brings the selected datasets up to date, upstream first; a failure stops what depends on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeward.errors import PipelineError
from lakeward.pipelines import reads
from lakeward.pipelines.blame import blame
from lakeward.pipelines.checkpoints import Checkpoints
from lakeward.pipelines.counts import Metrics
from lakeward.pipelines.elements import Dataset, Flow
from lakeward.pipelines.evaluate import Evaluator, NotReady
from lakeward.pipelines.expectations import violation
from lakeward.pipelines.graph import Graph
from lakeward.pipelines.model import DatasetResult, Progress
from lakeward.pipelines.narrate import Narrator
from lakeward.pipelines.outcome import FlowOutcome, RuleCounts
from lakeward.pipelines.refresh import Selection
from lakeward.pipelines.resolve import Planned, Resolution
from lakeward.pipelines.results import failed, finished, not_run, together, view_result
from lakeward.pipelines.running import FlowRunner, Setting
from lakeward.pipelines.side_by_side import Steps, side_by_side
from lakeward.pipelines.sinks import prepare_sink
from lakeward.pipelines.streaming import prepare
from lakeward.pipelines.transient import flow_attempts, with_retries
from lakeward.pipelines.waiting import Waiting, ended, to_the_end
from lakeward.session import condition_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Executor"]

_NEW_COLUMNS = "UNKNOWN_FIELD_EXCEPTION"


class Executor:
    """Runs a resolved graph. `results` holds what has ended so far, whatever happens."""

    def __init__(
        self,
        spark: SparkSession,
        graph: Graph,
        resolution: Resolution,
        selection: Selection,
        checkpoints: Checkpoints,
        metrics: Metrics,
        narrator: Narrator,
        setting: Setting,
    ) -> None:
        self.spark, self.graph, self.resolution, self.selection = spark, graph, resolution, selection
        self.checkpoints, self.metrics, self.narrator, self.setting = checkpoints, metrics, narrator, setting
        self.results: dict[tuple[str, ...], DatasetResult] = {}
        self.outcomes: list[FlowOutcome] = []
        self.schema_changed = False
        self._earlier: dict[tuple[str, ...], DatasetResult] = {}
        self._evaluator = Evaluator(spark, graph, self._ready, setting.schema_place)
        self._queries: list[Any] = []
        self._runner = FlowRunner(spark, checkpoints, metrics, setting, self._evaluator, self._queries.append)
        self._begun: dict[tuple[str, ...], Steps] = {}
        self._open: list[Steps] = []

    def run(self) -> None:
        """Everything selected, in the order that phase 1 found. Only interrupts go through."""
        with reads.intercepting(self._evaluator):
            try:
                side_by_side(
                    [planned for planned in self.resolution.plans.values() if not planned.dataset.is_view],
                    begin=self._begin,
                    can_begin=self._can_begin,
                    go_on=self._go_on,
                    most=self.setting.most,
                )
            finally:
                self._evaluator.drop_views()
        for planned in self.resolution.plans.values():
            if planned.dataset.is_view:
                self._end(planned, view_result(planned, self.outcomes, self._has_run(planned)))

    def run_again(self) -> None:
        """One more pass. The numbers of all passes are summed up; nothing is emptied a second time."""
        self.selection = Selection(self.selection.refresh, frozenset())
        self._earlier, self.results = self.results, {}
        self.outcomes, self._begun = [], {}
        self._queries.clear()
        self.run()

    @property
    def has_failed(self) -> bool:
        return any(result.state == "FAILED" for result in self.results.values())

    def stop(self) -> None:
        """Stop what still runs."""
        for query in self._queries:
            if query.isActive:
                query.stop()

    def _ready(self, dataset: Dataset) -> None:
        if dataset.is_view:
            return
        steps = self._begun.get(dataset.key)
        if steps in self._open:
            raise PipelineError(
                "PIPELINE_GRAPH_CYCLE",
                f"`{dataset.name}` is read while it is being brought up to date.",
                next_step="Let its function read something else.",
            )
        steps = steps or self._begin(self.resolution.plans[dataset.key])
        while not steps.done:
            ended(steps.query)
            self._go_on(steps)
        if self.results[dataset.key].state in ("FAILED", "SKIPPED"):
            raise NotReady(dataset)

    def _can_begin(self, planned: Planned) -> bool:
        """Whether everything that it reads is up to date, or will not be in this update."""
        plans = self.resolution.plans
        return all(key in self.results for key in planned.needs if not plans[key].dataset.is_view)

    def _begin(self, planned: Planned) -> Steps:
        key = planned.dataset.key
        if key not in self._begun:
            self._begun[key] = Steps(self._update(planned))
            self._go_on(self._begun[key])
        return self._begun[key]

    def _go_on(self, steps: Steps) -> None:
        self._open.append(steps)
        try:
            steps.go_on()
        finally:
            self._open.pop()

    def _update(self, planned: Planned) -> Waiting[None]:
        dataset = planned.dataset
        if dataset.key not in self.selection.refresh:
            self._end(planned, not_run(planned, "EXCLUDED"))
            return
        lost = [
            self.graph.find(key)
            for key in planned.needs
            if key in self.results and self.results[key].state in ("FAILED", "SKIPPED")
        ]
        if lost:
            self._skip(planned, lost[0])
            return
        yield from self._carry_out(planned)

    def _carry_out(self, planned: Planned) -> Waiting[None]:
        dataset = planned.dataset
        started = self.setting.clock()
        self.narrator.tell(Progress(dataset.name, planned.kind, "RUNNING"))
        outcomes: list[FlowOutcome] = []
        errors: list[str] = []
        try:
            if planned.kind in ("streaming_table", "sink"):
                self._prepare(planned, errors)
            for flow in dataset.flows if not errors else ():
                self.narrator.flow(dataset, flow.name, "RUNNING")
                try:
                    work = self._run_with_retries(planned, flow)
                    # Settings of a flow are the session's while it runs: nothing else runs meanwhile.
                    outcome = to_the_end(work) if flow.spark_conf else (yield from work)
                except Exception as error:  # noqa: BLE001  # one flow's failure, whatever it is, is its own
                    self.schema_changed |= (condition_of(error) or "").startswith(_NEW_COLUMNS)
                    errors.append(self._explained(error, dataset))
                    self.narrator.flow(dataset, flow.name, "FAILED", error=errors[-1])
                    continue
                outcomes.append(outcome)
                self.narrator.flow_done(dataset, outcome)
        except NotReady as upstream:
            self._skip(planned, upstream.dataset)
            return
        self.outcomes += outcomes
        seconds = self.setting.clock() - started
        result = failed(planned, errors, seconds) if errors else finished(planned, outcomes, seconds)
        self._end(
            planned, result, "unchanged" if outcomes and all(each.unchanged for each in outcomes) else ""
        )

    def _prepare(self, planned: Planned, errors: list[str]) -> None:
        reset = planned.dataset.key in self.selection.reset
        try:
            for flow in planned.dataset.flows:
                if (planned.dataset.key, flow.name) in self.selection.restart and not reset:
                    self.checkpoints.restart(planned.dataset.key, flow.name)
            if planned.kind == "sink":
                prepare_sink(planned.dataset, self.checkpoints)
                return
            prepare(
                self.spark,
                planned.dataset,
                planned.schema,
                self.checkpoints,
                owner=self.setting.owner,
            )
        except Exception as error:  # noqa: BLE001  # one flow's failure, whatever it is, is its own
            errors.append(self._explained(error, planned.dataset))
            for flow in planned.dataset.flows:
                self.narrator.flow(planned.dataset, flow.name, "FAILED", error=errors[-1])

    def _run_with_retries(self, planned: Planned, flow: Flow) -> Waiting[FlowOutcome]:
        conf = {**self.setting.conf, **flow.spark_conf}
        tries: list[int] = []

        def note(error: Exception, attempt: int) -> None:
            tries.append(attempt)
            self.narrator.retried(
                planned.dataset, flow.name, attempt, self._explained(error, planned.dataset)
            )

        outcome = yield from with_retries(
            lambda: self._runner.run(planned, flow, anew=planned.dataset.key in self.selection.reset),
            flow_attempts(conf, production=self.setting.production),
            note=note,
            pause=self.setting.pause,
        )
        if tries and planned.kind != "materialized_view":
            # What the tries that failed had written already, nobody has counted.
            outcome.rows_written, outcome.counted = (
                None,
                [RuleCounts(each.dataset, each.rules, None) for each in outcome.counted],
            )
        return outcome

    def _explained(self, error: Exception, dataset: Dataset) -> str:
        broken = violation(error)
        return str(broken or blame(error, what=f"dataset `{dataset.name}`", folders=self.setting.folders))

    def _skip(self, planned: Planned, upstream: Dataset | None) -> None:
        for flow in planned.dataset.flows:
            self.narrator.flow(planned.dataset, flow.name, "SKIPPED")
        because = f"`{upstream.name}` failed." if upstream else "an input failed."
        self._end(planned, not_run(planned, "SKIPPED", f"Skipped: {because}"))

    def _end(self, planned: Planned, result: DatasetResult, message: str = "") -> None:
        self.narrator.dataset(planned, result, message)
        earlier = self._earlier.get(planned.dataset.key)
        self.results[planned.dataset.key] = together(earlier, result) if earlier else result

    def _has_run(self, view: Planned) -> bool:
        """Whether a table that reads the view was refreshed."""
        readers = [each for each in self.resolution.plans.values() if view.dataset.key in each.needs]
        ran = [each for each in readers if each.dataset.key in self.selection.refresh]
        return bool(ran) or not readers
