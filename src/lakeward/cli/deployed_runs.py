"""Runs of what is deployed: started, waited for, and told task by task."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping

from lakeward.cli.rest import Rest

__all__ = ["run_job", "run_pipeline"]

_JOB_OVER = ("TERMINATED", "SKIPPED", "INTERNAL_ERROR")
_UPDATE_OVER = ("COMPLETED", "FAILED", "CANCELED")
_POLL_SECONDS = 0.5


def run_job(api: Rest, identifier: str, parameters: Mapping[str, str]) -> int:
    """Run a job and say how its tasks ended."""
    body = {"job_id": int(identifier), "job_parameters": dict(parameters)}
    run_id = api.ask("POST", "/api/2.2/jobs/run-now", body)["run_id"]
    while True:
        told = api.ask("GET", f"/api/2.2/jobs/runs/get?run_id={run_id}")
        if told["state"]["life_cycle_state"] in _JOB_OVER:
            break
        time.sleep(_POLL_SECONDS)
    for task in told.get("tasks") or ():
        state = task.get("state") or {}
        print(f"  {task['task_key']}  {state.get('result_state') or state.get('life_cycle_state')}")
        if state.get("result_state") not in ("SUCCESS", "EXCLUDED"):
            output = api.ask("GET", f"/api/2.2/jobs/runs/get-output?run_id={task['run_id']}")
            print(f"    {output.get('error') or state.get('state_message') or ''}", file=sys.stderr)
    result = told["state"].get("result_state") or told["state"]["life_cycle_state"]
    print(f"{told.get('run_name')}  {result}  {told.get('run_page_url', '')}")
    return 0 if result == "SUCCESS" else 1


def run_pipeline(api: Rest, identifier: str) -> int:
    """Update a pipeline and say how that ended."""
    path = f"/api/2.0/pipelines/{identifier}"
    update = api.ask("POST", f"{path}/updates", {})["update_id"]
    while (state := api.ask("GET", f"{path}/updates/{update}")["update"]["state"]) not in _UPDATE_OVER:
        time.sleep(_POLL_SECONDS)
    if state != "COMPLETED":
        for event in api.ask("GET", f"{path}/events?max_results=100").get("events") or ():
            if event.get("level") == "ERROR":
                print(f"  {event.get('message')}", file=sys.stderr)
    print(f"update {update}  {state}")
    return 0 if state == "COMPLETED" else 1
