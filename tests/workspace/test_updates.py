"""Updates that a job's tasks make are updates of their pipelines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lakeward.workspace.runs.update_recorder import TaskUpdates
from lakeward.workspace.state.store import Store

PIPELINE = {"pipeline_id": "p", "spec": {"name": "silver"}}
DATASET = {"name": "t", "state": "COMPLETED", "rows_written": 3, "dropped": 0, "expectations": []}
DONE = {"state": "COMPLETED", "datasets": [DATASET]}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "store.db")
    store.put("pipeline", "p", PIPELINE)
    yield store
    store.close()


def step(state: str, dataset: str = "", inputs: tuple[str, ...] = ()) -> Mapping[str, Any]:
    return {"dataset": dataset, "kind": "streaming_table", "state": state, "inputs": inputs}


def updates(store: Store) -> list[tuple[str, bool]]:
    """The updates of the pipeline, the oldest first: state, and whether they go on."""
    active = {each["update_id"] for each in store.find("update", parent="p", active=True)}
    return [(each["state"], each["update_id"] in active) for each in store.find("update", parent="p")]


def test_the_update_of_a_task_is_shown_with_its_graph_and_events(store: Store) -> None:
    run = TaskUpdates(store, 7)
    run.task_changed("refresh", "RUNNING", None)
    assert updates(store) == []
    run.on_event("refresh", "p", step("PLANNING"))
    assert updates(store) == [("INITIALIZING", True)]
    run.on_event("refresh", "p", step("QUEUED", "t", ("source",)))
    run.on_event("refresh", "p", step("RUNNING", "t"))
    assert updates(store) == [("RUNNING", True)]
    run.task_changed("other", "SUCCESS", None)
    run.task_changed("refresh", "SUCCESS", DONE)
    run.close(canceled=False, reason="")
    assert updates(store) == [("COMPLETED", False)]
    (update,) = store.find("update", parent="p")
    assert (update["cause"], update["job_run_id"], update["datasets"]) == ("JOB_TASK", 7, [DATASET])
    graph = store.get("graph", "p")
    assert graph == {"datasets": [{"kind": "streaming_table", "inputs": ["source"], "name": "t"}]}
    messages = [each["message"] for each in store.find("event", parent="p")]
    assert messages[-1].endswith("is COMPLETED.") and "Flow 't' is RUNNING." in messages


def test_what_a_task_could_not_end_ends_with_its_next_attempt_or_with_the_run(store: Store) -> None:
    run = TaskUpdates(store, 7)
    for _ in range(2):
        run.task_changed("refresh", "RUNNING", None)
        run.on_event("refresh", "p", step("PLANNING"))
    assert updates(store) == [("FAILED", False), ("INITIALIZING", True)]
    reasons = [
        each["error"]["exceptions"][0]["message"]
        for each in store.find(
            "event",
            parent="p",
        )
        if "error" in each
    ]
    assert reasons == ["The task refresh is tried again."]
    run.close(canceled=True, reason="")
    assert updates(store)[1] == ("CANCELED", False)


def test_a_pipeline_that_was_deleted_meanwhile_has_no_updates(store: Store) -> None:
    store.delete("pipeline", "p")
    run = TaskUpdates(store, 7)
    run.on_event("refresh", "p", step("PLANNING"))
    run.close(canceled=False, reason="")
    assert updates(store) == []
