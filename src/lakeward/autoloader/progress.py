"""Progress of a query as Databricks words it: `CloudFilesSource[…]`, and the backlog as metrics (§6.5)."""

from __future__ import annotations

import copy
import json
from typing import Any

__all__ = ["as_shown", "rewording_java", "rewording_json"]

_FIGURES = ("numFilesOutstanding", "numBytesOutstanding")


def as_shown(progress: dict[str, Any]) -> dict[str, Any] | None:
    """The JSON of a progress with its Auto Loader sources reworded; None when it has none of them."""
    sources = progress.get("sources") or []
    ours = [_path(source) for source in sources]
    if not any(ours):
        return None
    out = copy.deepcopy(progress)
    for source, path in zip(out["sources"], ours, strict=True):
        if path is not None:
            source["description"] = f"CloudFilesSource[{path}]"
            source["metrics"] = {**source.get("metrics", {}), **_figures(source["latestOffset"])}
            source["latestOffset"] = source["endOffset"]
    return out


def _path(source: dict[str, Any]) -> str | None:
    """The input path of an Auto Loader source, whose offsets nobody else writes."""
    end = _object(source.get("endOffset"))
    return str(end["lastInputPath"]) if {"seqNum", "lastInputPath"} <= set(end) else None


def _figures(latest: Any) -> dict[str, str]:
    found = _object(latest)
    figures = {name: str(found[name]) for name in _FIGURES if name in found}
    return {**figures, "isBacklogComputationComplete": "true"} if figures else {}


def _object(offset: Any) -> dict[str, Any]:
    """An offset is shown as JSON, or as text that holds it."""
    if isinstance(offset, str):
        try:
            offset = json.loads(offset)
        except ValueError:
            return {}
    return offset if isinstance(offset, dict) else {}


def rewording_json(before: Any) -> Any:
    """`StreamingQueryProgress.fromJson` over the reworded JSON."""

    def from_json(cls: Any, progress: dict[str, Any]) -> Any:
        return before.__get__(None, cls)(as_shown(progress) or progress)

    return classmethod(from_json)


def rewording_java(before: Any) -> Any:
    """`StreamingQueryProgress.fromJObject`, which listeners get, with the reworded sources."""

    def from_java(cls: Any, progress: Any) -> Any:
        made = before.__get__(None, cls)(progress)
        shown = as_shown(json.loads(progress.json()))
        if shown is not None:
            for source, words in zip(made["sources"], shown["sources"], strict=True):
                source.update(description=words["description"], metrics=words.get("metrics", {}))
                source._jdict, source._jprogress = words, None
            made._jdict, made._jprogress = shown, None
        return made

    return classmethod(from_java)
