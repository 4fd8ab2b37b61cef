"""Reports after a run: of its pipeline and of the job's tasks, named at the end of the output."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakeward.session import Settings


def report_path(name: str, settings: Settings) -> Path:
    """Return the file of a pipeline's report in the state folder."""
    return settings.pipelines.parent / "reports" / f"{name}.html"


def write_report(
    name: str, settings: Settings, path: Path | None = None, *, rows: bool = True
) -> Path | None:
    """Write the report of a pipeline and return its path; None if the pipeline has no events.

    Args:
        name: Folder name of the pipeline.
        settings: Where the pipeline and its tables are.
        path: The file; default: below reports/ in the state folder.
        rows: Whether the report shows sample rows of tables.

    Raises OSError when the file cannot be written.
    """
    from lakeward.dbutils import record_stored_secrets
    from lakeward.report import build_report, page_document, write_page

    # Tables can contain secrets that other processes have read.
    unreadable = record_stored_secrets(settings) if rows else []
    storage = settings.pipelines / name
    document = build_report(name, storage, warehouse=settings.warehouse, rows=rows and not unreadable)
    if document is None:
        return None
    if unreadable:
        what = f"the secret {unreadable[0]} cannot be read, so rows that contain it cannot be redacted"
        document["notes"].append(f"No sample rows are shown: {what}.")
    if path is None:
        path = report_path(name, settings)
    write_page(page_document(document), path)
    return path


def write_run_report(job: str, folder: Path, settings: Settings, path: Path | None = None) -> Path | None:
    """Write the report of a job run and return its path; None if the record of the run cannot be read.

    It links the reports of pipelines that exist. Raises OSError when the file cannot be written.
    """
    from lakeward.report import build_run_report, write_page

    names = [each.stem for each in report_path("x", settings).parent.glob("*.html")]
    document = build_run_report(job, folder, links={name: f"../{name}.html" for name in names})
    if document is None:
        return None
    if path is None:
        path = report_path("x", settings).parent / "runs" / f"{job}.{folder.name}.html"
    write_page(document, path, "run")
    return path


def report_warning(error: Exception) -> str:
    """Return the warning with the reason why a run has no report; the run itself is not affected."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
    return f"warning: the report of the run was not written: {reason}\n"
