"""The newest commits of a Delta table, read from its log without Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lakeward.atomic_files import read_regular
from lakeward.databricks_shims.local_workspace import Route, check_name, invalid_parameter, is_table, missing
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document

MAX_COMMITS = 50
_MAX_BYTES = 32 * 2**20


def history(call: ServerRequest) -> Document:
    """Return version, time, operation and metrics of the newest commits.

    Parameters of operations are left out: conditions of DELETE and UPDATE can contain secrets.
    """
    parts = call.path_parameter.lower().split(".")
    if len(parts) != 3:
        raise invalid_parameter("A table's name is catalog.schema.table.")
    for part in parts:
        check_name(part)
    folder = call.environment.settings().warehouse.joinpath(*parts)
    if not is_table(folder.parent, folder.name):
        raise missing(f"Table '{'.'.join(parts)}'", "TABLE_DOES_NOT_EXIST")
    log = folder / "_delta_log"
    commits = sorted((each for each in log.glob("*.json") if each.stem.isdecimal()), reverse=True)
    shown = [_commit(file) for file in commits[:MAX_COMMITS]]
    return {"commits": shown, "omitted": len(commits) - len(shown)}


def _commit(file: Path) -> Document:
    facts: Any = {}
    try:
        if file.stat().st_size <= _MAX_BYTES:
            lines = read_regular(file).splitlines()
            facts = next(
                (json.loads(line)["commitInfo"] for line in lines if b'"commitInfo"' in line[:40]), {}
            )
    except (OSError, ValueError, LookupError, TypeError):
        facts = {"operation": "unreadable commit"}
    if not isinstance(facts, dict):
        facts = {"operation": "unreadable commit"}
    metrics = facts.get("operationMetrics")
    return {
        "version": int(file.stem),
        "timestamp": facts.get("inCommitTimestamp") or facts.get("timestamp"),
        "operation": facts.get("operation"),
        "metrics": metrics if isinstance(metrics, dict) else {},
    }


ROUTES = (Route("GET", "/api/2.0/lakeward/history/{}", history),)
