"""Reports of pipelines: one self-contained HTML file, written from the files of the event log without Spark.

Start reading at `pipeline_report`: it builds the document that `page.html` shows.
"""

from __future__ import annotations

from lakeward.report.event_files import StoredEvents, read_events
from lakeward.report.page import write_page
from lakeward.report.pipeline_report import build_report
from lakeward.report.stream_batches import batch_of

__all__ = ["StoredEvents", "batch_of", "build_report", "read_events", "write_page"]
