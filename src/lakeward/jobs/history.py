"""What is kept of a run: its logs, and how its tasks ended, from which a repair goes on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lakeward.errors import ConfigurationError
from lakeward.jobs.model import JobRun
from lakeward.jobs.schedule import End
from lakeward.whole_files import write_whole

__all__ = ["Past", "folder_of", "load_past", "save"]

_LAST = "last"


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
    write_whole(folder / "run.json", json.dumps(content))
    write_whole(jobs / key / "runs" / _LAST, run.run_id)


def load_past(jobs: Path, key: str, run_id: str) -> Past:
    """Return the run `run_id` (`last`: the newest) of the job `key`.

    Raises ConfigurationError(RUN_UNKNOWN) when there is none.
    """
    pointer = jobs / key / "runs" / _LAST
    if run_id == _LAST and pointer.is_file():
        run_id = pointer.read_text(encoding="utf-8").strip()
    file = folder_of(jobs, key, run_id) / "run.json"
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
