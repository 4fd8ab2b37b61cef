"""Event logs of Spark, written event by event: a sick application and its healthy twin for each finding."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

MB = 2**20
SQL = "org.apache.spark.sql.execution.ui.SparkListenerSQL"
PROGRESS = "org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent"


class Application:
    """Collects events; metrics get accumulators with the next numbers."""

    def __init__(self, **settings: str) -> None:
        properties = {f"spark.sql.{name.replace('_', '.')}": value for name, value in settings.items()}
        self.events: list[dict[str, Any]] = [
            {"Event": "SparkListenerLogStart", "Spark Version": "4.2.0"},
            {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": properties},
        ]
        self.updates: list[tuple[int, int]] = []
        self.queries = self.stages = 0

    def node(
        self, name: str, *children: dict[str, Any], location: str = "", **metrics: int
    ) -> dict[str, Any]:
        """An operator of a plan; `number_of_output_rows=5` is a metric with that value."""
        described = []
        for metric, value in metrics.items():
            self.updates.append((len(self.updates), value))
            described.append(
                {
                    "name": metric.replace("_", " "),
                    "accumulatorId": len(self.updates) - 1,
                    "metricType": "sum",
                }
            )
        return {
            "nodeName": name,
            "simpleString": f"{name} [x]",
            "children": list(children),
            "metadata": {"Location": location} if location else {},
            "metrics": described,
        }

    def query(self, plan: dict[str, Any], *tasks: dict[str, Any], **settings: str) -> None:
        """A query with one stage of these tasks; the plan of the start is replaced while it runs."""
        changed = {f"spark.sql.{name.replace('_', '.')}": value for name, value in settings.items()}
        number, stage = self.queries, self.stages
        self.queries, self.stages = number + 1, stage + 1
        start = {"executionId": number, "description": "save at job.py:3", "modifiedConfigs": changed}
        self.events += [
            {"Event": f"{SQL}ExecutionStart", **start, "sparkPlanInfo": self.node("AdaptiveSparkPlan")},
            {"Event": f"{SQL}AdaptiveExecutionUpdate", "executionId": number, "sparkPlanInfo": plan},
            {
                "Event": "SparkListenerJobStart",
                "Stage IDs": [stage],
                "Properties": {"spark.sql.execution.id": str(number)},
            },
        ]
        for task in tasks or ({},):
            self.task(stage, **task)

    def task(
        self, stage: int, *, read: int = 0, disk: int = 0, memory: int = 0, failed: bool = False
    ) -> None:
        """A task; half of what it reads is remote."""
        accumulables = [{"ID": number, "Update": str(value)} for number, value in self.updates]
        self.updates = [(number, 0) for number, _ in self.updates]
        shuffle = {
            "Remote Bytes Read": read // 2,
            "Local Bytes Read": read - read // 2,
            "Total Records Read": read,
        }
        self.events.append(
            {
                "Event": "SparkListenerTaskEnd",
                "Stage ID": stage,
                "Task Info": {"Failed": failed, "Accumulables": accumulables},
                "Task Metrics": {
                    "Disk Bytes Spilled": disk, "Memory Bytes Spilled": memory,
                    "Shuffle Read Metrics": shuffle,
                },
            }
        )  # fmt: skip

    def batch(self, name: str, *, rows: int, total: int, removed: int = 0, late: int = 0) -> None:
        """The progress of a stream's micro-batch."""
        state = {
            "numRowsTotal": total, "numRowsRemoved": removed, "numRowsDroppedByWatermark": late,
            "memoryUsedBytes": total * 100,
        }  # fmt: skip
        progress = {"id": "i", "name": name, "sources": [{"numInputRows": rows}], "stateOperators": [state]}
        self.events.append({"Event": PROGRESS, "progress": progress})

    def write(self, file: Path) -> Path:
        """Write the file and return its path."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{json.dumps(event)}\n" for event in self.events))
        return file


def data_skew(app: Application, *, sick: bool) -> None:
    app.query(app.node("Sort"), *({"read": 4 * MB} for _ in range(3)), {"read": (21 if sick else 19) * MB})


def spill(app: Application, *, sick: bool) -> None:
    half = (32 if sick else 31) * MB
    app.query(
        app.node("Sort"),
        {"read": 300 * MB, "disk": half, "memory": 4 * half},
        {"read": 300 * MB, "disk": half},
    )


def shuffle_partitions(app: Application, *, sick: bool) -> None:
    app.query(app.node("HashAggregate"), *({"read": MB // 2} for _ in range(200 if sick else 199)))


def row_udf(app: Application, *, sick: bool) -> None:
    operator = app.node("ArrowEvalPython", number_of_output_rows=100_000)
    # The last figure is the type of the function: called for each row, or with a batch.
    operator["simpleString"] = f"ArrowEvalPython [f(id#0L)#2L], [pythonUDF0#4L], {101 if sick else 200}"
    app.query(app.node("Project", operator))


def cartesian_join(app: Application, *, sick: bool) -> None:
    rows = 1_000_000 if sick else 999_999
    app.query(app.node("BroadcastNestedLoopJoin", app.node("Range"), number_of_output_rows=rows))


def join(app: Application, small: int, large: int) -> dict[str, Any]:
    left = app.node("Sort", app.node("Exchange", data_size=large))
    return app.node("SortMergeJoin", left, app.node("Sort", app.node("Exchange", data_size=small)))


def missed_broadcast(app: Application, *, sick: bool) -> None:
    app.query(join(app, (10 if sick else 11) * MB, 64 * MB))


def wrong_broadcast(app: Application, *, sick: bool) -> None:
    app.query(
        app.node("BroadcastHashJoin", app.node("BroadcastExchange", data_size=(256 if sick else 255) * MB))
    )


def repeated_scan(app: Application, *, sick: bool) -> None:
    scans = [
        app.node("Scan parquet ", location=f"[/a/{0 if sick else number}]", size_of_files_read=30 * MB)
        for number in range(3)
    ]
    app.query(app.node("Union", *scans))


def aqe_off(app: Application, *, sick: bool) -> None:
    plan = app.node("HashAggregate", app.node("Exchange", data_size=MB))
    app.query(plan, adaptive_enabled="false" if sick else "true")
    # Without a shuffle there is nothing to adapt.
    app.query(app.node("Range"), adaptive_enabled="false")


def late_rows(app: Application, *, sick: bool) -> None:
    for _ in range(2):
        app.batch("orders", rows=5000, total=10, removed=1, late=50 if sick else 49)


def state_growth(app: Application, *, sick: bool) -> None:
    for number in range(1, 6):
        app.batch("orders", rows=20_000, total=number * 20_000, removed=0 if sick else number // 5)


SEEDS: dict[str, Callable[..., None]] = {
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
"""The function that adds the queries of each finding to an application, sick or healthy."""
