"""Events as the event log stores them, for reports without Spark."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

START = datetime(2026, 5, 1, 6, tzinfo=timezone.utc)


class Events:
    """The events of one update; each is a second after the one before."""

    def __init__(self, update: str, day: int = 0) -> None:
        self.update, self.day = update, day
        self.rows: list[dict[str, Any]] = []

    def add(self, kind: str, details: dict[str, Any], dataset: str | None = None, error: str = "") -> Events:
        exceptions = [{"class_name": "", "message": error, "stack": []}]
        self.rows.append(
            {
                "id": f"{self.update}-{len(self.rows)}",
                "sequence": {"data_plane_id": {"instance": self.update, "seq_no": len(self.rows)}},
                "origin": {"update_id": self.update, "dataset_name": dataset, "flow_name": dataset},
                "timestamp": START + timedelta(days=self.day, seconds=len(self.rows)),
                "message": kind,
                "level": "ERROR" if error else "INFO",
                "error": {"fatal": False, "exceptions": exceptions} if error else None,
                "details": json.dumps({kind: details}),
                "event_type": kind,
            }
        )
        return self

    def define(self, dataset: str, *inputs: str) -> Events:
        self.add("dataset_definition", {"dataset_type": "MATERIALIZED_VIEW", "schema": []}, dataset)
        flow = {"input_datasets": [{"name": name} for name in inputs], "flow_type": "COMPLETE"}
        return self.add("flow_definition", flow, dataset)

    def refresh(self, dataset: str, rows: int, state: str = "COMPLETED", **quality: Any) -> Events:
        self.add("flow_progress", {"status": "RUNNING"}, dataset)
        if state == "COMPLETED":
            details = {"status": "RUNNING", "metrics": {"num_output_rows": rows}, **quality}
            self.add("flow_progress", details, dataset)
        return self.add("flow_progress", {"status": state}, dataset, "[BAD] no" if state == "FAILED" else "")

    def end(self, state: str = "COMPLETED") -> Events:
        return self.add("update_progress", {"state": state})

    def store(self, storage: Path) -> None:
        """Write the events as a data file of the event log."""
        log = storage / "event_log"
        log.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(self.rows), log / f"part-{self.day:05d}.parquet")

    def lines(self) -> str:
        """Return the events as lines of the event file."""
        return "".join(
            json.dumps({**row, "details": json.loads(row["details"])}, default=datetime.isoformat) + "\n"
            for row in self.rows
        )
