"""Progress reads as on Databricks (spec §6.5)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lakeward.autoloader.progress import as_shown


def progress(end: Any, latest: Any) -> dict[str, Any]:
    other = {"description": "RateStream", "startOffset": 0, "endOffset": 1, "latestOffset": 1}
    return {"sources": [{"description": "x", "endOffset": end, "latestOffset": latest}, other]}


END = {"seqNum": 3, "lastInputPath": "dbfs:/Volumes/m/d/in"}


@pytest.mark.rule("6.5")
def test_an_auto_loader_source_is_named_and_has_its_backlog_as_text() -> None:
    backlog = {"numFilesOutstanding": 7, "numBytesOutstanding": 70}
    for end, latest in ((END, backlog), (json.dumps(END), json.dumps(backlog))):
        shown = as_shown(progress(end, latest))
        assert shown is not None
        assert shown["sources"][0] == {
            "description": "CloudFilesSource[dbfs:/Volumes/m/d/in]",
            "endOffset": end,
            "latestOffset": end,
            "metrics": {
                "numFilesOutstanding": "7",
                "numBytesOutstanding": "70",
                "isBacklogComputationComplete": "true",
            },
        }
        assert shown["sources"][1]["description"] == "RateStream"


def test_progress_without_one_is_left_alone() -> None:
    assert as_shown({"sources": [{"endOffset": {"seqNum": 1}, "latestOffset": None}]}) is None
    assert as_shown(progress("no json", None)) is None
