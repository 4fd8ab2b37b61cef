"""What makes tables, queries and pipelines slow or expensive, with evidence and the statement that fixes it.

Start reading at `finding_table`: it declares every finding. `examination` reads a subject and returns
diagnoses; no query is executed and nothing is written for that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.lazy_imports import lazy_exports

if TYPE_CHECKING:
    from lakeward.doctor.diagnosis import Diagnosis, Examination
    from lakeward.doctor.examination import (
        examine_pipeline,
        examine_spark_events,
        examine_table,
        find_external_tables,
        find_tables,
    )
    from lakeward.doctor.finding_table import FINDINGS, Finding
    from lakeward.doctor.pipeline_rules import stored_updates, written_datasets

__getattr__ = lazy_exports(__name__, __file__)
