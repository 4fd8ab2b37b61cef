"""Runs one flow, by what it is: a stream, a change feed, snapshots, a batch, into a table or a sink."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.changes import run_changes
from lakeward.pipelines.checkpoints import Checkpoints
from lakeward.pipelines.counts import Metrics
from lakeward.pipelines.declared import declared_schema, fit
from lakeward.pipelines.elements import Flow
from lakeward.pipelines.evaluate import Evaluated, Evaluator
from lakeward.pipelines.materialize import materialize
from lakeward.pipelines.once import run_once
from lakeward.pipelines.outcome import FlowOutcome
from lakeward.pipelines.replacing import run_replacing
from lakeward.pipelines.resolve import Planned
from lakeward.pipelines.sinks import run_sink_flow
from lakeward.pipelines.snapshots import run_snapshots
from lakeward.pipelines.streaming import run_flow
from lakeward.pipelines.waiting import Waiting

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["FlowRunner", "Setting"]


@dataclass(frozen=True)
class Setting:
    """What does not change in one update; `most` datasets are brought up to date at a time."""

    owner: str
    update_id: str
    code: str
    conf: Mapping[str, str]
    folders: tuple[Path, ...]
    schema_place: Callable[[Flow, int], str]
    production: bool = False
    most: int = max(2, os.cpu_count() or 1)
    clock: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep


@dataclass(frozen=True)
class FlowRunner:
    """What flows run with; `on_query` hears of every stream that is started."""

    spark: SparkSession
    checkpoints: Checkpoints
    metrics: Metrics
    setting: Setting
    evaluator: Evaluator
    on_query: Callable[[Any], None]

    def run(self, planned: Planned, flow: Flow, *, anew: bool) -> Waiting[FlowOutcome]:
        """Take what is new, or compute what there is; `anew` in any case. What it raises goes through."""
        dataset, setting = planned.dataset, self.setting
        if flow.snapshots is not None:
            return run_snapshots(self.spark, planned, flow, self.checkpoints, self.evaluator.evaluate)
        evaluated: Evaluated = self.evaluator.evaluate(flow)
        if flow.change is not None:
            return (
                yield from run_changes(
                    self.spark,
                    planned,
                    evaluated,
                    self.checkpoints,
                    update_id=setting.update_id,
                    on_query=self.on_query,
                )
            )
        if planned.kind == "sink":
            return (
                yield from run_sink_flow(
                    self.spark, dataset, evaluated, self.checkpoints, on_query=self.on_query
                )
            )
        is_view = planned.kind == "materialized_view"
        evaluated.query = fit(evaluated.query, declared_schema(dataset), dataset, complete=is_view)
        if is_view:
            return materialize(
                self.spark,
                dataset,
                evaluated,
                self.metrics,
                owner=setting.owner,
                update_id=setting.update_id,
                code=setting.code,
                conf=setting.conf,
                anew=anew,
            )
        if flow.replaces is not None:
            return (
                yield from run_replacing(
                    self.spark,
                    planned,
                    evaluated,
                    self.checkpoints,
                    update_id=setting.update_id,
                    on_query=self.on_query,
                )
            )
        if flow.once:
            return run_once(
                self.spark, dataset, evaluated, self.checkpoints, self.metrics, update_id=setting.update_id
            )
        return (
            yield from run_flow(
                self.spark,
                dataset,
                evaluated,
                self.checkpoints,
                self.metrics,
                whole=flow.name in planned.whole,
                update_id=setting.update_id,
                on_query=self.on_query,
            )
        )
