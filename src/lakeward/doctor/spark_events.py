"""Spark's event log: queries with their plans and metrics, stages with their tasks, progress of streams.

Files as Spark writes them: one file, or a folder `eventlog_v2_…` of rolled ones; plain, zstd or gzip.
Damaged lines at the end of a file are what a killed application leaves; they are skipped and counted, as are
events of other types than Spark's and lines longer than any that Spark writes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from lakeward.errors import LakewardError

_SQL = "org.apache.spark.sql.execution.ui.SparkListenerSQL"
_ACCUMULATORS = "org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates"
_PROGRESS = "org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent"
_NAMES = re.compile(r"^(events_\d+_|app-|application_|local-|eventlog)")
# Plans of thousands of columns take some megabytes. A small compressed file can contain a line without end.
_LONGEST_LINE = 64 * 2**20
_OPERATOR_FIGURES = ("numRowsDroppedByWatermark", "numRowsTotal", "numRowsRemoved", "memoryUsedBytes")
_CODECS = {".zstd": "zstd", ".zst": "zstd", ".gz": "gzip"}


@dataclass
class Stage:
    """A stage: figures of its successful tasks."""

    id: int
    shuffle_read: list[int] = field(default_factory=list)
    disk_spilled: int = 0
    memory_spilled: int = 0
    shuffle_tasks: int = 0


@dataclass
class Query:
    """An execution of a SQL query or DataFrame action; `plan` is the last one that Spark decided for."""

    id: int
    description: str
    plan: Mapping[str, Any]
    settings: Mapping[str, str]
    stages: set[int] = field(default_factory=set)

    def nodes(self, plan: Mapping[str, Any] | None = None) -> Iterator[Mapping[str, Any]]:
        """Yield the operators of the plan, parents first."""
        node = self.plan if plan is None else plan
        yield node
        for child in node.get("children") or ():
            yield from self.nodes(child)


@dataclass
class SparkEvents:
    """All that the rules read of an application."""

    queries: dict[int, Query] = field(default_factory=dict)
    stages: dict[int, Stage] = field(default_factory=dict)
    accumulators: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    progress: dict[str, list[Mapping[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    settings: dict[str, str] = field(default_factory=dict)
    damaged_lines: int = 0

    def metric(self, node: Mapping[str, Any], name: str) -> int:
        """Return the value of an operator's metric; 0 where it has none."""
        found = (each for each in node.get("metrics") or () if each.get("name") == name)
        return sum(self.accumulators.get(each.get("accumulatorId"), 0) for each in found)


def read_application(path: Path) -> SparkEvents:
    """Return the events of a file, or of all event files in a folder.

    Raises:
        LakewardError: SPARK_EVENTS_NOT_FOUND or SPARK_EVENTS_UNREADABLE.
    """
    files = [path] if path.is_file() else sorted(each for each in path.rglob("*") if _is_log(each))
    if not files:
        raise LakewardError(
            "SPARK_EVENTS_NOT_FOUND",
            f"{path.name} is not an event log of Spark and contains none.",
            next_step="Run the application with spark.eventLog.enabled=true and spark.eventLog.dir=FOLDER.",
        )
    found, taken = SparkEvents(), 0
    for file in files:
        for line in _lines(file):
            try:
                event = orjson.loads(line)
                _take(found, event)
                taken += 1
            except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
                found.damaged_lines += 1
    if not taken and found.damaged_lines < 2:
        raise LakewardError(
            "SPARK_EVENTS_UNREADABLE",
            f"{path.name} contains no event of Spark.",
            next_step="Name an event log: spark.eventLog.enabled=true writes one to spark.eventLog.dir.",
        )
    return found


def _is_log(path: Path) -> bool:
    return path.is_file() and bool(_NAMES.match(path.name)) and not path.name.startswith("appstatus")


def _lines(file: Path) -> Iterator[bytes]:
    import pyarrow as pa

    codec = _CODECS.get(Path(file.name.removesuffix(".inprogress")).suffix)
    if file.name.removesuffix(".inprogress").endswith((".lz4", ".lzf", ".snappy")):
        raise LakewardError(
            "SPARK_EVENTS_UNREADABLE",
            f"{file.name} is compressed in a format of Spark's own.",
            next_step="Write it with spark.eventLog.compression.codec=zstd.",
        )
    rest = bytearray()
    too_long = False
    try:
        with pa.input_stream(str(file), compression=codec) as stream:
            while block := stream.read(1 << 20):
                first, *lines = block.split(b"\n")
                if not too_long:
                    rest += first
                if len(rest) > _LONGEST_LINE:
                    # An empty line is a damaged one.
                    rest, too_long = bytearray(), True
                if lines:
                    yield bytes(rest)
                    yield from lines[:-1]
                    rest, too_long = bytearray(lines[-1]), False
    except OSError as error:
        # A killed application leaves an incomplete frame: what was read before counts.
        if not rest:
            reason = str(error).partition("\n")[0]
            raise LakewardError("SPARK_EVENTS_UNREADABLE", f"{file.name} cannot be read: {reason}") from None
    if rest.strip() or too_long:
        yield bytes(rest)


def _take(found: SparkEvents, event: Mapping[str, Any]) -> None:
    kind = event["Event"]
    if kind == "SparkListenerTaskEnd":
        _take_task(found, event)
    elif kind == "SparkListenerJobStart":
        execution = (event.get("Properties") or {}).get("spark.sql.execution.id")
        if execution is not None and int(execution) in found.queries:
            found.queries[int(execution)].stages |= set(event["Stage IDs"])
    elif kind == "SparkListenerEnvironmentUpdate":
        found.settings |= dict(event["Spark Properties"])
    elif kind == f"{_SQL}ExecutionStart":
        settings = {**found.settings, **(event.get("modifiedConfigs") or {})}
        number = event["executionId"]
        found.queries[number] = Query(
            number, str(event.get("description") or ""), _checked_plan(event["sparkPlanInfo"]), settings
        )
    elif kind == f"{_SQL}AdaptiveExecutionUpdate" and event["executionId"] in found.queries:
        found.queries[event["executionId"]].plan = _checked_plan(event["sparkPlanInfo"])
    elif kind == _ACCUMULATORS:
        for identifier, value in event["accumUpdates"]:
            found.accumulators[identifier] += int(value)
    elif kind == _PROGRESS:
        progress = event["progress"]
        progress = orjson.loads(progress) if isinstance(progress, str) else progress
        found.progress[str(progress.get("name") or progress["id"])].append(_checked_progress(progress))


def _checked_plan(plan: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the plan if its operators have the types that rules expect; raise their errors otherwise."""
    pending = [plan]
    while pending:
        node = pending.pop()
        for metric in node.get("metrics") or ():
            hash((metric.get("name"), metric.get("accumulatorId")))
        (node.get("metadata") or {}).get("Location")
        pending += node.get("children") or ()
    return plan


def _checked_progress(progress: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the figures of a stream's progress that rules use, converted to numbers."""
    operators = [_figures(each, _OPERATOR_FIGURES) for each in progress.get("stateOperators") or ()]
    sources = [_figures(each, ("numInputRows",)) for each in progress.get("sources") or ()]
    return {"stateOperators": operators, "sources": sources}


def _figures(counted: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, int]:
    return {name: int(counted.get(name) or 0) for name in names}


def _take_task(found: SparkEvents, event: Mapping[str, Any]) -> None:
    info, metrics = event["Task Info"], event.get("Task Metrics") or {}
    if info.get("Failed") or info.get("Killed"):
        return
    stage = found.stages.setdefault(event["Stage ID"], Stage(event["Stage ID"]))
    read = metrics.get("Shuffle Read Metrics") or {}
    stage.shuffle_read.append(int(read.get("Remote Bytes Read", 0)) + int(read.get("Local Bytes Read", 0)))
    stage.shuffle_tasks += bool(read.get("Total Records Read"))
    stage.disk_spilled += int(metrics.get("Disk Bytes Spilled", 0))
    stage.memory_spilled += int(metrics.get("Memory Bytes Spilled", 0))
    for each in info.get("Accumulables") or ():
        update = each.get("Update")
        if isinstance(update, int) or (isinstance(update, str) and update.lstrip("-").isdigit()):
            found.accumulators[each["ID"]] += int(update)
