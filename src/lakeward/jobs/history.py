"""What is kept of a run: its logs, and how its tasks ended, from which a repair goes on."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from lakeward.errors import ConfigurationError
from lakeward.jobs.model import JobRun
from lakeward.jobs.schedule import End
from lakeward.whole_files import write_whole

__all__ = ["KEPT_DAYS", "Past", "folder_of", "forget_old", "is_kept", "load_past", "save"]

KEPT_DAYS = 60
"""How long a run and its logs are kept (https://docs.databricks.com/aws/en/jobs/monitor)."""

_LAST = "last"
_RUN = "run.json"


@dataclass(frozen=True)
class Past:
    """A run as it was: what is needed to repair it."""

    run_id: str
    parameters: Mapping[str, str]
    values: Mapping[tuple[str, str], str]
    ended: Mapping[str, End] = field(default_factory=dict)
    repairs: int = 0

    @property
    def kept(self) -> dict[str, End]:
        """The tasks that a repair does not run again."""
        return {
            key: end for key, end in self.ended.items() if end.state in ("SUCCESS", "EXCLUDED", "UNTAKEN")
        }

    def without(self, keys: Collection[str]) -> Past:
        """Return it as if the tasks `keys` had not ended."""
        return replace(self, ended={key: end for key, end in self.ended.items() if key not in keys})


def folder_of(jobs: Path, key: str, run_id: str) -> Path:
    """Return the folder of a run of the job `key`."""
    return jobs / key / "runs" / run_id


def save(jobs: Path, key: str, run: JobRun, past: Past) -> None:
    """Keep `run` and what a repair of it needs; readers see it whole or not at all."""
    folder = folder_of(jobs, key, run.run_id)
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        **{name: value for name, value in run.as_json().items() if name != "datasets"},
        "parameters": dict(past.parameters),
        "repairs": past.repairs,
        "values": [[*name, text] for name, text in past.values.items()],
        "ended": {key: [end.state, end.error, end.outcome] for key, end in past.ended.items()},
    }
    write_whole(folder / _RUN, json.dumps(content))
    write_whole(jobs / key / "runs" / _LAST, run.run_id)


def forget_old(jobs: Path, key: str, *, now: float | None = None) -> None:
    """Remove the runs of the job `key` that ended more than KEPT_DAYS days before `now`, with their logs."""
    before = (time.time() if now is None else now) - KEPT_DAYS * 24 * 3600
    for file in (jobs / key / "runs").glob(f"*/{_RUN}"):
        folder = file.parent
        if not folder.is_symlink() and file.stat().st_mtime < before:
            shutil.rmtree(folder, ignore_errors=True)


def is_kept(jobs: Path, key: str, run_id: str) -> bool:
    """Tell whether the run can be repaired."""
    return (folder_of(jobs, key, run_id) / _RUN).is_file()


def load_past(jobs: Path, key: str, run_id: str) -> Past:
    """Return the run `run_id` (`last`: the newest) of the job `key`.

    Raises ConfigurationError(RUN_UNKNOWN) when there is none.
    """
    pointer = jobs / key / "runs" / _LAST
    if run_id == _LAST and pointer.is_file():
        run_id = pointer.read_text(encoding="utf-8").strip()
    file = folder_of(jobs, key, run_id) / _RUN
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise ConfigurationError(
            "RUN_UNKNOWN",
            f"The job {key} has no run `{run_id}` to repair in {jobs / key}.",
            next_step="`--repair last` repairs the newest one.",
        ) from None
    return Past(
        run_id,
        content["parameters"],
        {(task, name): text for task, name, text in content["values"]},
        {task: End(state, error, outcome) for task, (state, error, outcome) in content["ended"].items()},
        content["repairs"],
    )
