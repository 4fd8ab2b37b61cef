"""The progress of a query with Auto Loader's description and metrics of its sources, as on Databricks."""

from __future__ import annotations

import copy
import json
from typing import Any

_BACKLOG_METRICS = ("numFilesOutstanding", "numBytesOutstanding")


def to_databricks_progress(progress: dict[str, Any]) -> dict[str, Any] | None:
    """Return progress JSON with rewritten Auto Loader sources, None if it has none."""
    sources = progress.get("sources") or []
    ours = [_input_path(source) for source in sources]
    if not any(ours):
        return None
    out = copy.deepcopy(progress)
    for source, path in zip(out["sources"], ours, strict=True):
        if path is not None:
            source["description"] = f"CloudFilesSource[{path}]"
            source["metrics"] = {**source.get("metrics", {}), **_backlog_metrics(source["latestOffset"])}
            source["latestOffset"] = source["endOffset"]
    return out


def _input_path(source: dict[str, Any]) -> str | None:
    """Return the input path of an Auto Loader source, recognized by its offset."""
    end = _parse_offset(source.get("endOffset"))
    return str(end["lastInputPath"]) if {"seqNum", "lastInputPath"} <= set(end) else None


def _backlog_metrics(latest: Any) -> dict[str, str]:
    offset = _parse_offset(latest)
    figures = {name: str(offset[name]) for name in _BACKLOG_METRICS if name in offset}
    return {**figures, "isBacklogComputationComplete": "true"} if figures else {}


def _parse_offset(offset: Any) -> dict[str, Any]:
    """Parse an offset, which is an object or JSON text."""
    if isinstance(offset, str):
        try:
            offset = json.loads(offset)
        except ValueError:
            return {}
    return offset if isinstance(offset, dict) else {}
