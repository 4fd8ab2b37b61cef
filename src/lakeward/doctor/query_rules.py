"""The findings on queries and streams, from Spark's event log."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lakeward.doctor import finding_table as limits
from lakeward.doctor.diagnosis import Diagnosis, diagnose
from lakeward.doctor.spark_events import Query, SparkEvents, Stage

_ROWS = "number of output rows"
# With Arrow, Spark's default, a row-at-a-time UDF has this type (`PythonEvalType.SQL_ARROW_BATCHED_UDF`).
_ARROW_ROWS = ", 101"


def query_diagnoses(events: SparkEvents) -> Iterator[Diagnosis]:
    """Yield the findings on all queries and streams of an application."""
    for rule in RULES.values():
        yield from rule(events)


def data_skew(events: SparkEvents) -> Iterator[Diagnosis]:
    for query, stage in _stages(events):
        read = stage.shuffle_read
        if len(read) < limits.SKEW_TASKS:
            continue
        median, largest = int(statistics.median(read)), max(read)
        if largest >= limits.SKEW_RATIO * median and largest - median >= limits.SKEW_BYTES:
            figures: dict[str, float | str] = {
                "tasks": len(read),
                "median_bytes": median,
                "largest_bytes": largest,
            }
            yield diagnose("data-skew", _subject(query, stage), {**figures, "input_bytes": sum(read)})


def spill(events: SparkEvents) -> Iterator[Diagnosis]:
    for query, stage in _stages(events):
        if stage.disk_spilled >= limits.SPILL_BYTES:
            tasks = max(1, len(stage.shuffle_read))
            more = max(tasks + 1, math.ceil(stage.memory_spilled / limits.MERGED_FILE_BYTES) + tasks)
            figures: dict[str, float | str] = {
                "tasks": tasks,
                "disk_bytes": stage.disk_spilled,
                "memory_bytes": stage.memory_spilled,
            }
            yield diagnose("spill", _subject(query, stage), {**figures, "partitions_after": more})


def shuffle_partitions(events: SparkEvents) -> Iterator[Diagnosis]:
    for query, stage in _stages(events):
        total, tasks = sum(stage.shuffle_read), len(stage.shuffle_read)
        if not stage.shuffle_tasks:
            continue
        mean = total // tasks
        many = tasks >= limits.MANY_TASKS and mean < limits.SMALL_TASK_BYTES
        if many or mean >= limits.LARGE_TASK_BYTES:
            wanted = max(1, math.ceil(total / limits.MERGED_FILE_BYTES))
            figures: dict[str, float | str] = {"tasks": tasks, "mean_bytes": mean, "partitions_after": wanted}
            yield diagnose("shuffle-partitions", _subject(query, stage), figures)


def row_udf(events: SparkEvents) -> Iterator[Diagnosis]:
    for query in events.queries.values():
        for node in query.nodes():
            rows = events.metric(node, _ROWS)
            if _is_row_udf(node) and rows >= limits.UDF_ROWS:
                evidence: dict[str, float | str] = {"rows": rows, "operator": _short(node)}
                yield diagnose("row-udf", _subject(query), evidence)


def _is_row_udf(node: Mapping[str, Any]) -> bool:
    """Return whether an operator calls a Python function for each row, with or without Arrow in between."""
    if node.get("nodeName") == "BatchEvalPython":
        return True
    return node.get("nodeName") == "ArrowEvalPython" and str(node.get("simpleString")).endswith(_ARROW_ROWS)


def cartesian_join(events: SparkEvents) -> Iterator[Diagnosis]:
    for query in events.queries.values():
        for node in query.nodes():
            name, rows = str(node.get("nodeName")), events.metric(node, _ROWS)
            if name in ("CartesianProduct", "BroadcastNestedLoopJoin") and rows >= limits.CARTESIAN_ROWS:
                yield diagnose("cartesian-join", _subject(query), {"operator": name, "rows": rows})


def missed_broadcast(events: SparkEvents) -> Iterator[Diagnosis]:
    for query in events.queries.values():
        for node in query.nodes():
            if node.get("nodeName") not in ("SortMergeJoin", "ShuffledHashJoin"):
                continue
            sizes = [_exchanged(events, query, child) for child in node.get("children") or ()]
            if len(sizes) != 2 or not all(sizes):
                continue
            small, large = sorted(sizes)
            if small <= limits.BROADCAST_BYTES and large >= limits.SHUFFLED_BYTES:
                threshold = query.settings.get("spark.sql.autoBroadcastJoinThreshold", "10MB")
                figures: dict[str, float | str] = {
                    "small_bytes": small,
                    "large_bytes": large,
                    "threshold": threshold,
                }
                yield diagnose("missed-broadcast", _subject(query), figures)


def wrong_broadcast(events: SparkEvents) -> Iterator[Diagnosis]:
    for query in events.queries.values():
        for node in query.nodes():
            size = events.metric(node, "data size")
            if node.get("nodeName") == "BroadcastExchange" and size >= limits.WRONG_BROADCAST_BYTES:
                yield diagnose("wrong-broadcast", _subject(query), {"broadcast_bytes": size})


def repeated_scan(events: SparkEvents) -> Iterator[Diagnosis]:
    for query in events.queries.values():
        scans: Counter[str] = Counter()
        sizes: Counter[str] = Counter()
        for node in query.nodes():
            if str(node.get("nodeName")).startswith(("Scan", "BatchScan")):
                # The location alone: filters and columns of each scan differ.
                source = str((node.get("metadata") or {}).get("Location") or node.get("nodeName"))
                scans[source] += 1
                sizes[source] += events.metric(node, "size of files read")
        for source, count in scans.items():
            if count >= limits.REPEATED_SCANS and sizes[source] >= limits.SCANNED_BYTES:
                figures: dict[str, float | str] = {
                    "source": source[:200],
                    "scans": count,
                    "read_bytes": sizes[source],
                }
                yield diagnose("repeated-scan", _subject(query), figures)


def aqe_off(events: SparkEvents) -> Iterator[Diagnosis]:
    off = [
        each for each in events.queries.values() if each.settings.get("spark.sql.adaptive.enabled") == "false"
    ]
    shuffles = sum(node.get("nodeName") == "Exchange" for query in off for node in query.nodes())
    if shuffles:
        queries = sum(any(node.get("nodeName") == "Exchange" for node in query.nodes()) for query in off)
        yield diagnose("aqe-off", "application", {"queries": queries, "shuffles": shuffles})


def late_rows(events: SparkEvents) -> Iterator[Diagnosis]:
    for name, batches in events.progress.items():
        dropped = sum(_state(batch, "numRowsDroppedByWatermark") for batch in batches)
        rows = sum(source["numInputRows"] for batch in batches for source in batch["sources"])
        if dropped >= limits.LATE_ROWS and dropped >= rows * limits.LATE_SHARE:
            figures: dict[str, float | str] = {
                "dropped_rows": dropped,
                "input_rows": rows,
                "batches": len(batches),
            }
            yield diagnose("late-rows", f"stream {name}", figures)


def state_growth(events: SparkEvents) -> Iterator[Diagnosis]:
    for name, batches in events.progress.items():
        totals = [_state(batch, "numRowsTotal") for batch in batches if batch["stateOperators"]]
        removed = sum(_state(batch, "numRowsRemoved") for batch in batches)
        grew = len(totals) >= limits.STATE_BATCHES and totals == sorted(totals) and totals[-1] > totals[0]
        if grew and not removed and totals[-1] >= limits.STATE_ROWS:
            size = _state(batches[-1], "memoryUsedBytes")
            figures: dict[str, float | str] = {
                "batches": len(totals),
                "first_rows": totals[0],
                "last_rows": totals[-1],
                "memory_bytes": size,
            }
            yield diagnose("state-growth", f"stream {name}", figures)


RULES: dict[str, Callable[[SparkEvents], Iterator[Diagnosis]]] = {
    "data-skew": data_skew,
    "spill": spill,
    "shuffle-partitions": shuffle_partitions,
    "row-udf": row_udf,
    "cartesian-join": cartesian_join,
    "missed-broadcast": missed_broadcast,
    "wrong-broadcast": wrong_broadcast,
    "repeated-scan": repeated_scan,
    "aqe-off": aqe_off,
    "late-rows": late_rows,
    "state-growth": state_growth,
}


def _stages(events: SparkEvents) -> Iterator[tuple[Query | None, Stage]]:
    owners = {stage: query for query in events.queries.values() for stage in query.stages}
    for stage in events.stages.values():
        if stage.shuffle_read:
            yield owners.get(stage.id), stage


def _subject(query: Query | None, stage: Stage | None = None) -> str:
    parts = [] if query is None else [f"query {query.id} ({query.description[:80]})"]
    return ", ".join([*parts, *([] if stage is None else [f"stage {stage.id}"])])


def _short(node: Mapping[str, Any]) -> str:
    return str(node.get("simpleString") or node.get("nodeName"))[:120]


def _exchanged(events: SparkEvents, query: Query, side: Mapping[str, Any]) -> int:
    """Return the bytes of the first shuffle below one side of a join; 0 without one."""
    for node in query.nodes(side):
        if node.get("nodeName") == "Exchange":
            return events.metric(node, "data size")
    return 0


def _state(batch: Mapping[str, Any], name: str) -> int:
    return sum(each[name] for each in batch["stateOperators"])
