"""Query progress has Databricks' form (AL-6.5)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql.streaming.listener import StreamingQueryProgress

from lakeward.autoloader.pyspark_patches import patch_from_java
from lakeward.autoloader.streams.query_progress import to_databricks_progress


def progress(end: Any, latest: Any) -> dict[str, Any]:
    other = {"description": "RateStream", "startOffset": 0, "endOffset": 1, "latestOffset": 1}
    return {"sources": [{"description": "x", "endOffset": end, "latestOffset": latest}, other]}


END = {"seqNum": 3, "lastInputPath": "dbfs:/Volumes/m/d/in"}


@pytest.mark.rule("6.5")
def test_an_auto_loader_source_is_named_and_has_its_backlog_as_text() -> None:
    backlog = {"numFilesOutstanding": 7, "numBytesOutstanding": 70}
    for end, latest in ((END, backlog), (json.dumps(END), json.dumps(backlog))):
        shown = to_databricks_progress(progress(end, latest))
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
    assert to_databricks_progress({"sources": [{"endOffset": {"seqNum": 1}, "latestOffset": None}]}) is None
    assert to_databricks_progress(progress("no json", None)) is None


class Java:
    """Answers any method with what the constructor was given for it."""

    def __init__(self, **answers: Any) -> None:
        self._answers = answers

    def __getattr__(self, name: str) -> Any:
        return lambda: self._answers.get(name)


def test_a_listener_gets_the_same() -> None:
    fields = {"numInputRows": 1, "inputRowsPerSecond": 1.0, "processedRowsPerSecond": 1.0}
    offsets = {
        "endOffset": json.dumps(END),
        "latestOffset": json.dumps({"numFilesOutstanding": 7, "numBytesOutstanding": 70}),
    }
    source = {"description": "x", "startOffset": None, **offsets, **fields}
    number = "7f3f8a52-5c5e-4d0c-9a3e-0d3f1c1f5a11"
    heard = Java(
        id=Java(toString=number),
        runId=Java(toString=number),
        durationMs={},
        eventTime={},
        stateOperators=[],
        sources=[Java(metrics={}, **source)],
        sink=Java(description="s", numOutputRows=1, metrics={}),
        observedMetrics={},
        json=json.dumps({"sources": [source]}),
    )
    made = patch_from_java(vars(StreamingQueryProgress)["fromJObject"]).__get__(None, StreamingQueryProgress)(
        heard
    )
    assert made.sources[0].description == "CloudFilesSource[dbfs:/Volumes/m/d/in]"
    assert made.sources[0].metrics["numFilesOutstanding"] == "7"
    assert "CloudFilesSource" in made.json
    assert "CloudFilesSource" in made.sources[0].json
