"""The files of a job's runs: `jobs` writes them; reports, commands and the local workspace read them.

<jobs>/<job>/runs/last                  the id of the newest run that has ended
<jobs>/<job>/runs/<run>/run.json        the run, once it has ended
                        progress.json   the run before that; one that was killed leaves it behind
                        logs/           the output of tasks in processes of their own, a file an attempt
<jobs>/dbt-<run>/<task>.tar.gz          the artifacts of a dbt task
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

RUN_FILE = "run.json"
PROGRESS_FILE = "progress.json"
LAST_RUN = "last"
"""The name of the newest run of a job, on the command line, too."""


def run_folder(jobs: Path, job: str, run_id: str) -> Path:
    """Return the folder of a run."""
    return jobs / job / "runs" / run_id


def last_run_file(jobs: Path, job: str) -> Path:
    """Return the file with the id of a job's newest run."""
    return jobs / job / "runs" / LAST_RUN


def find_run_files(job_folder: Path) -> Iterator[Path]:
    """Yield the records of a job's runs: first those of runs that have ended."""
    for name in (RUN_FILE, PROGRESS_FILE):
        yield from job_folder.glob(f"runs/*/{name}")


def task_log(run: Path, task: str, attempt: int) -> Path:
    """Return the log of an attempt at a task, in the folder of its run.

    >>> task_log(Path("7"), "load", 1).as_posix(), task_log(Path("7"), "each[a/b]", 2).as_posix()
    ('7/logs/load.log', '7/logs/each[a_b].2.log')
    """
    name = f"{task}{'' if attempt <= 1 else f'.{attempt}'}.log"
    return run / "logs" / name.replace("/", "_")


def dbt_artifacts_file(jobs: Path, run_id: str, task_key: str) -> Path:
    """Return the archive with the artifacts of a dbt task."""
    return jobs / f"dbt-{run_id}" / f"{task_key}.tar.gz"
