"""The report of one job run as a document: its tasks, their logs, and the runs of the job before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from lakeward.atomic_files import read_json_object
from lakeward.report.page import embedded_size
from lakeward.run_files import PROGRESS_FILE, RUN_FILE, find_run_files, task_log

MAX_RUNS = 30
_MAX_LOG = 16_000
_MAX_LOGS = 600_000
_MAX_TEXT = 4_000

RunRecord = dict[str, Any]
"""What is stored of a run, or of one of its tasks."""


def stored_runs(job_folder: Path) -> list[Path]:
    """Return the folders of the runs of a job, the newest first."""
    changed: dict[Path, float] = {}
    for file in find_run_files(job_folder):
        with suppress(OSError):
            changed[file.parent] = file.stat().st_mtime
    return sorted(changed, key=lambda folder: changed[folder], reverse=True)


def build_run_report(job: str, folder: Path, *, links: Mapping[str, str] = {}) -> dict[str, Any] | None:
    """Return the report of a run as JSON values; None if its record cannot be read.

    Args:
        job: Key of the job.
        folder: Folder of the run, next to those of the other runs of the job.
        links: Addresses of the reports of pipelines, by their keys.

    Returns:
        `job`, `run`, `state`, `started`, `seconds`, `parameters`, `tasks`, `runs` (new to old, at most
        `MAX_RUNS`), `before` (the newest completed run before this one), `generated` and `notes`.
    """
    content = _load(folder)
    if content is None:
        return None
    others = [
        (each, found)
        for each in stored_runs(folder.parent.parent)[:MAX_RUNS]
        if (found := _load(each)) is not None
    ]
    older = [found for each, found in others if _is_before(found, content) and each != folder]
    before = next((each for each in older if each.get("state") == "COMPLETED"), None)
    tasks = _tasks(content, links)
    _add_logs(tasks, folder)
    return {
        "job": job,
        "run": folder.name,
        "state": str(content.get("state")),
        "started": content.get("started"),
        "seconds": content.get("seconds"),
        "parameters": content.get("parameters") or {},
        "tasks": tasks,
        "runs": [_summary(each.name, found) for each, found in others],
        "before": {"tasks": _tasks(before, {})} if before else None,
        "generated": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "notes": _notes(content),
    }


def run_pipelines(folder: Path) -> list[str]:
    """Return the keys of the pipelines that the run of a folder has updated, in the order of its tasks."""
    found = (each.get("pipeline") for each in _records(_load(folder) or {}))
    return [str(each) for each in found if each]


def _records(content: RunRecord) -> list[RunRecord]:
    """Return what was recorded of the tasks; a damaged file can have other values there."""
    records = content.get("records")
    return [each for each in records if isinstance(each, dict)] if isinstance(records, list) else []


def _notes(content: RunRecord) -> list[str]:
    if content["state"] == "UNFINISHED":
        return ["The run has not ended: it is running, or its process was killed."]
    return [] if content.get("records") else ["The run was stored by an older version: no graph, no times."]


def _load(folder: Path) -> RunRecord | None:
    """Return the stored run; with the state UNFINISHED for one that has not ended."""
    for name in (PROGRESS_FILE, RUN_FILE):
        content = read_json_object(folder / name)
        tasks = content.get("tasks")
        if isinstance(tasks, list) and all(isinstance(each, dict) for each in tasks):
            return {**content, "state": "UNFINISHED" if name == PROGRESS_FILE else content.get("state")}
    return None


def _is_before(run: RunRecord, other: RunRecord) -> bool:
    return str(run.get("started") or "") < str(other.get("started") or "")


def _tasks(content: RunRecord, links: Mapping[str, str]) -> list[dict[str, Any]]:
    records = {str(each.get("task_key")): each for each in _records(content)}
    found = []
    for task in content["tasks"]:
        key = str(task.get("task_key"))
        record = records.get(key, {})
        pipeline, before, attempts = (record.get(name) for name in ("pipeline", "depends_on", "attempts"))
        found.append(
            {
                "task_key": key,
                "state": str(task.get("state")),
                "seconds": task.get("seconds"),
                "error": str(task.get("error") or "")[:_MAX_TEXT],
                "kind": record.get("kind"),
                "depends_on": [str(each) for each in before] if isinstance(before, list) else [],
                "attempts": attempts if isinstance(attempts, int) else 0,
                "began": record.get("began"),
                "outcome": record.get("outcome"),
                "pipeline": pipeline,
                "link": links.get(pipeline) if isinstance(pipeline, str) else None,
            }
        )
    return found


def _add_logs(tasks: Sequence[dict[str, Any]], run: Path) -> None:
    """Add the end of the newest log of each task; failed tasks first, until the page is large enough."""
    left = _MAX_LOGS
    for task in sorted(tasks, key=lambda task: task["state"] != "FAILED"):
        text, omitted = _end_of(task_log(run, task["task_key"], task["attempts"]), _MAX_LOG)
        left -= embedded_size(text)
        if text and left >= 0:
            task.update(log=text, log_omitted=omitted)


def _end_of(file: Path, most: int) -> tuple[str, int]:
    try:
        # A task key of a damaged record can be too long for a file.
        if not file.is_file():
            return "", 0
        with file.open("rb") as opened:
            size = opened.seek(0, 2)
            opened.seek(max(0, size - most))
            return opened.read().decode("utf-8", "replace"), max(0, size - most)
    except OSError:
        return "", 0


def _summary(run: str, content: RunRecord) -> dict[str, Any]:
    failed = sum(each.get("state") == "FAILED" for each in content["tasks"])
    facts = {name: content.get(name) for name in ("started", "seconds")}
    return {"run": run, "state": str(content.get("state")), "failed": failed, **facts}
