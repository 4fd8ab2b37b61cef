"""Reports of pipelines and of job runs: self-contained HTML files, written from stored files without Spark.

Start reading at `pipeline_report` and `run_report`: they build the documents that the `templates` show.
"""

from __future__ import annotations

from lakeward.report.event_files import (
    StoredEvents,
    dataset_of,
    details_of,
    error_of,
    read_events,
    seconds_between,
)
from lakeward.report.page import write_page
from lakeward.report.pipeline_report import build_report, page_document
from lakeward.report.run_report import build_run_report, run_pipelines, stored_runs
from lakeward.report.samples import PROTECTING_WORDS
from lakeward.report.stream_batches import batch_of
