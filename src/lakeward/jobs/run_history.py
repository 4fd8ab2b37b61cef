"""Stored runs: results, parameters, task values and logs, for repairs."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from lakeward.atomic_files import atomic_write, read_regular
from lakeward.dbutils import decrypt, encrypt, record_secret, redact
from lakeward.errors import ConfigurationError
from lakeward.jobs.run_records import RunProgress, TaskRecord
from lakeward.jobs.run_results import JobRun
from lakeward.jobs.task_graph import AttemptResult
from lakeward.run_files import LAST_RUN, PROGRESS_FILE, RUN_FILE, find_run_files, last_run_file, run_folder

RETENTION_DAYS = 60
"""Days for which a run and its logs are kept (https://docs.databricks.com/aws/en/jobs/monitor)."""

_SEALED = "encrypted"


@dataclass(frozen=True)
class PreviousRun:
    """The data of a run that its repair needs."""

    run_id: str
    parameters: Mapping[str, str]
    values: Mapping[tuple[str, str], str]
    ended: Mapping[str, AttemptResult] = field(default_factory=dict)
    repairs: int = 0

    @property
    def completed(self) -> dict[str, AttemptResult]:
        """Return the tasks that a repair does not run again."""
        return {
            key: end for key, end in self.ended.items() if end.state in ("SUCCESS", "EXCLUDED", "UNTAKEN")
        }

    def without(self, keys: Collection[str]) -> PreviousRun:
        """Return a copy in which the tasks `keys` have no result."""
        return replace(self, ended={key: end for key, end in self.ended.items() if key not in keys})


def save_run(
    jobs: Path,
    key: str,
    run: JobRun,
    past: PreviousRun,
    *,
    started: datetime | None = None,
    records: Sequence[TaskRecord] = (),
) -> None:
    """Store `run`, what a repair of it needs, and the `records` of its tasks for its report, atomically."""
    folder = run_folder(jobs, key, run.run_id)
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        **{name: value for name, value in run.as_json().items() if name != "datasets"},
        "started": started and started.isoformat(timespec="milliseconds"),
        "records": list(records),
        "parameters": dict(past.parameters),
        "repairs": past.repairs,
        "values": [[*name, encrypt_value(text)] for name, text in past.values.items()],
        "ended": {key: [end.state, end.error, end.outcome] for key, end in past.ended.items()},
    }
    atomic_write(folder / RUN_FILE, json.dumps(content), mode=0o600)
    atomic_write(last_run_file(jobs, key), run.run_id)
    (folder / PROGRESS_FILE).unlink(missing_ok=True)


def save_progress(folder: Path, progress: RunProgress) -> None:
    """Store what the report of a run shows before the run has ended; a killed run leaves it behind."""
    folder.mkdir(parents=True, exist_ok=True)
    atomic_write(folder / PROGRESS_FILE, json.dumps(progress), mode=0o600)


def delete_old_runs(jobs: Path, key: str) -> None:
    """Remove the runs of the job `key` that ended RETENTION_DAYS days ago or earlier, with their logs."""
    before = time.time() - RETENTION_DAYS * 24 * 3600
    for file in list(find_run_files(jobs / key)):
        folder = file.parent
        if not folder.is_symlink() and file.exists() and file.stat().st_mtime < before:
            shutil.rmtree(folder, ignore_errors=True)


def can_repair(jobs: Path, key: str, run_id: str) -> bool:
    """Return whether the run can be repaired."""
    return (run_folder(jobs, key, run_id) / RUN_FILE).is_file()


def encrypt_value(text: str) -> str | dict[str, str]:
    """Return a task value as it is stored: encrypted if a secret is in it, since a repair needs it whole."""
    return text if redact(text) == text else {_SEALED: encrypt(text.encode()).decode()}


def decrypt_value(stored: str | Mapping[str, str], what: str) -> str:
    """Return a stored task value; `what` names it in the error ConfigurationError(SECRET_KEY_WRONG)."""
    if isinstance(stored, str):
        return stored
    text = decrypt(stored[_SEALED].encode(), what).decode()
    value = json.loads(text)
    # The run that is repaired knew the secret; this one may not read it again.
    record_secret((value if isinstance(value, str) else text).encode())
    return text


def load_previous_run(jobs: Path, key: str, run_id: str) -> PreviousRun:
    """Return the run `run_id` (`last`: the newest) of the job `key`.

    Raises ConfigurationError: RUN_UNKNOWN if no such run is stored, RUN_DAMAGED if it cannot be read.
    """
    pointer = last_run_file(jobs, key)
    if run_id == LAST_RUN and pointer.is_file():
        run_id = pointer.read_text(encoding="utf-8", errors="replace").strip()
        if not run_id or set(run_id) & set("/\0\ufffd"):
            raise _damaged(pointer)
    file = run_folder(jobs, key, run_id) / RUN_FILE
    try:
        text = read_regular(file)
    except (OSError, ValueError):
        raise ConfigurationError(
            "RUN_UNKNOWN",
            f"The job {key} has no run `{run_id}` to repair in {jobs / key}.",
            next_step="`--repair last` repairs the newest one.",
        ) from None
    try:
        return _from_json(run_id, json.loads(text))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise _damaged(file) from None


def _from_json(run_id: str, content: Mapping[str, Any]) -> PreviousRun:
    return PreviousRun(
        run_id,
        dict(content["parameters"]),
        {
            (task, name): decrypt_value(text, f"in the value {name} of {task}")
            for task, name, text in content["values"]
        },
        {
            task: AttemptResult(state, error, outcome)
            for task, (state, error, outcome) in content["ended"].items()
        },
        int(content["repairs"]),
    )


def _damaged(file: Path) -> ConfigurationError:
    return ConfigurationError(
        "RUN_DAMAGED",
        f"{file} is damaged: what the run's tasks have done cannot be read.",
        next_step="Restore the file, or start a new run of the job.",
    )
