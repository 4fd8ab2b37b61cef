"""Where the artifacts of dbt tasks are kept."""

from __future__ import annotations

from pathlib import Path


def artifacts_file(jobs: Path, run_id: str, task_key: str) -> Path:
    """Return the archive with the artifacts of a task of a run."""
    return jobs / f"dbt-{run_id}" / f"{task_key}.tar.gz"
