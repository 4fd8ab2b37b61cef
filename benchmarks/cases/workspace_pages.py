"""The pages of the local workspace with many runs: the requests that each page sends."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from benchmarks.cases.workspace import ask, bare, percentile, served
from benchmarks.registry import Sides, case

RUNS, TASKS, UPDATES, DATASETS, EVENTS = 1000, 8, 30, 20, 10_000
ROUNDS = 20


@case("workspace.pages", goal=5.0)
@contextmanager
def pages(folder: Path) -> Iterator[Sides]:
    """All requests of all pages, one after the other, against as many to a server with one short answer.

    1,000 runs of eight tasks, a pipeline with 30 updates of 20 datasets and 10,000 events.
    Wanted: `<page>_ms`, the slowest of 20 answers of the page, of 200 at most.
    """
    found = seed(folder / ".lakeward" / "local")
    with served(folder) as (_, host, token), bare(b"{}") as peer:
        requests = {name: [path.format(**found) for path in paths] for name, paths in PAGES.items()}
        every = [path for paths in requests.values() for path in paths]

        def load(paths: list[str]) -> int:
            return sum(len(fetch(host, token, path)) for path in paths)

        def check(size: int | None) -> None:
            assert size is None or size > 10_000

        def figures() -> dict[str, float]:
            slowest = {}
            for name, paths in requests.items():
                taken = []
                for _ in range(ROUNDS):
                    began = time.perf_counter()
                    load(paths)
                    taken.append(time.perf_counter() - began)
                slowest[f"{name}_ms"] = percentile(taken, 99)
            return slowest

        assert len(ask(host, token, "/api/2.2/jobs/runs/list?limit=25")["runs"]) == 25
        yield Sides(
            lambda: load(every),
            lambda: [fetch(peer, token, path) for path in every] and None,
            check=check,
            figures=figures,
        )


PAGES = {
    "files": ["/", "/ui/style.css", "/ui/main.js", "/ui/dom.js", "/ui/graph.js", "/ui/jobs.js", "/ui/sql.js"],
    "jobs": ["/api/2.2/jobs/list?limit=50&page_token=0", "/api/2.2/jobs/runs/list?limit=25"],
    "runs": ["/api/2.2/jobs/runs/list?limit=25&page_token=500"],
    "job": [
        "/api/2.2/jobs/get?job_id={job}",
        "/api/2.2/jobs/runs/list?limit=25&job_id={job}&page_token=0",
    ],
    "run": [
        "/api/2.2/jobs/runs/get?include_history=true&run_id={run}",
        "/api/2.0/lakeward/logs?run_id={task}&offset=0",
    ],
    "pipelines": ["/api/2.0/pipelines?max_results=50&page_token=0", "/api/2.0/lakeward/pipelines"],
    "pipeline": [
        "/api/2.0/pipelines/{pipeline}",
        "/api/2.0/pipelines/{pipeline}/updates?max_results=25",
        "/api/2.0/pipelines/{pipeline}/events?max_results=100",
        "/api/2.0/lakeward/report/{pipeline}",
    ],
    "tables": [
        "/api/2.1/unity-catalog/catalogs?max_results=100",
        "/api/2.1/unity-catalog/schemas?catalog_name=main&max_results=100",
    ],
    "secrets": ["/api/2.0/secrets/scopes/list"],
}
"""The requests of each page, as the scripts in `workspace/http/pages` send them."""


def seed(state: Path) -> dict[str, Any]:
    """Write runs, updates and events as the server stores them; return the ids for `PAGES`."""
    from lakeward.workspace.runs import run_state
    from lakeward.workspace.runs.run_process import ProcessResult
    from lakeward.workspace.state.store import Store, now

    store = Store(state / "server" / "workspace.db")
    user = "benchmark"
    keys = [f"task_{number}" for number in range(TASKS)]
    tasks = [
        {"task_key": key, "spark_python_task": {"python_file": f"/Workspace/{key}.py"}, "depends_on": edges}
        for key, edges in zip(keys, [[], *([{"task_key": key}] for key in keys)], strict=False)
    ]
    settings = {"name": "daily", "tasks": tasks, "max_concurrent_runs": 1, "timeout_seconds": 0}
    about = {"creator_user_name": user, "run_as_user_name": user}
    job = store.number()
    store.put("job", job, {"job_id": job, "created_time": now(), "settings": settings, **about})
    results = [{"task_key": key, "state": "SUCCESS"} for key in keys]
    for _ in range(RUNS):
        number = store.number()
        facts = {"job_id": job, "run_type": "JOB_RUN", "trigger": "ONE_TIME", "creator_user_name": user}
        run = run_state.new_run(number, settings, numbers=store.number, at=now(), **facts)
        run_state.finish(run, ProcessResult({"state": "COMPLETED", "tasks": results}), now())
        store.put("run", number, run, parent=job)
        for task in run["tasks"]:
            store.put("task_run", task["run_id"], {"run_id": number}, parent=number)
    pipeline = "11111111-2222-3333-4444-555555555555"
    spec = {"name": "orders", "id": pipeline}
    store.put("pipeline", pipeline, {"pipeline_id": pipeline, "spec": spec, "last_modified": 1, **about})
    for number in range(UPDATES):
        key = f"update-{number:03}"
        update = {"update_id": key, "pipeline_id": pipeline, "state": "COMPLETED", "creation_time": now()}
        store.put("update", key, update, parent=pipeline)
    for number in range(EVENTS):
        event = {
            "id": str(number),
            "timestamp": "2026-05-01T06:00:00.000Z",
            "origin": {"update_id": "update-000"},
        }
        event |= {
            "message": "Flow is RUNNING.",
            "level": "INFO",
            "event_type": "flow_progress",
            "details": {},
        }
        store.put("event", number, event, parent=pipeline)
    store.close()
    store_events(state / "pipelines" / pipeline / "event_log")
    return {"job": job, "run": run["run_id"], "task": run["tasks"][0]["run_id"], "pipeline": pipeline}


def store_events(
    folder: Path, *, updates: int = UPDATES, datasets: int = DATASETS, lineage: bool = False
) -> int:
    """Write one data file of the event log for each update of a chain of datasets; return the events."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True)
    facts = list(facts_of_update(datasets, lineage=lineage))
    for update in range(updates):
        rows = [event(update, number, *each) for number, each in enumerate(facts)]
        pq.write_table(pa.Table.from_pylist(rows), folder / f"part-{update:05}.parquet")
    return updates * len(facts)


def facts_of_update(datasets: int, *, lineage: bool) -> Iterator[tuple[str, dict[str, Any], str | None]]:
    """Yield type, details and dataset of the events of an update."""
    names = [f"main.shop.table_{number}" for number in range(datasets)]
    columns = [f"column_{number}" for number in range(20)]
    schema = [{"name": name, "type": "string", "nullable": True} for name in columns]
    for before, name in zip([None, *names], names, strict=False):
        yield "dataset_definition", {"dataset_type": "MATERIALIZED_VIEW", "schema": schema}, name
        inputs = [{"name": before}] if before else []
        flow: dict[str, Any] = {"input_datasets": inputs, "flow_type": "COMPLETE"}
        if lineage and before:
            flow["column_lineage"] = {column: [[before, column]] for column in columns}
        yield "flow_definition", flow, name
    quality = {"expectations": [{"name": "valid", "passed_records": 100, "failed_records": 1}]}
    for name in names:
        yield "flow_progress", {"status": "RUNNING"}, name
        yield "flow_progress", {"metrics": {"num_output_rows": 100}, "data_quality": quality}, name
        yield "flow_progress", {"status": "COMPLETED"}, name
    yield "update_progress", {"state": "COMPLETED"}, None


def event(
    update: int, number: int, kind: str, details: dict[str, Any], dataset: str | None
) -> dict[str, Any]:
    """Return a row of the event log."""
    return {
        "id": f"{update}-{number}",
        "sequence": {"data_plane_id": {"instance": "a", "seq_no": number}},
        "origin": {"update_id": f"update-{update:03}", "dataset_name": dataset, "flow_name": dataset},
        "timestamp": datetime(2026, 5, 1, tzinfo=timezone.utc) + timedelta(days=update, seconds=number),
        "message": kind,
        "level": "INFO",
        "details": json.dumps({kind: details}),
        "event_type": kind,
    }


def fetch(host: str, token: str, path: str) -> bytes:
    """Return the body of an answer."""
    request = Request(host + path, headers={"Authorization": f"Bearer {token}"})  # noqa: S310  # our own host
    with urlopen(request, timeout=30) as answer:  # noqa: S310  # our own host
        return bytes(answer.read())
