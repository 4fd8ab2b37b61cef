"""Public pipelines, unchanged, on small inputs.

`LAKEWARD_SAMPLES` names a folder with checkouts `<owner>+<repository>`; they are not part of this one. With
LAKEWARD_KEEP=1, what became of each is kept for the page of compatibility.
"""

from __future__ import annotations

import os
import uuid
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lakeward import pipelines
from lakeward.session import PathMap, Settings, ensure_schema
from tests.acceptance.page import Verdict, keep
from tests.acceptance.sample import Place, Sample
from tests.acceptance.samples import SAMPLES
from tests.trees import write_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = os.environ.get("LAKEWARD_SAMPLES")


@pytest.fixture
def checkout(sample: Sample) -> Path:
    """The sample's repository; the test is skipped where it is absent, before Spark is started."""
    if not FOLDER:
        pytest.skip("LAKEWARD_SAMPLES names no folder with checkouts of public repositories")
    found = Path(FOLDER).absolute() / sample.repository.replace("/", "+")
    if not found.is_dir():
        pytest.skip(f"{sample.repository} is not in {FOLDER}")
    return found


def note(verdict: Verdict) -> None:
    """Store a verdict if the environment requests it."""
    if os.environ.get("LAKEWARD_KEEP"):
        keep(verdict)


@pytest.mark.slow
@pytest.mark.filterwarnings("default:Option .* has no effect here:UserWarning")
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.key)
def test_a_public_pipeline_runs_unchanged(
    checkout: Path,
    spark: SparkSession,
    suite_settings: Settings,
    tmp_path: Path,
    sample: Sample,
) -> None:
    schema = "a" + uuid.uuid4().hex[:10]
    paths = PathMap.of(suite_settings)
    place = Place("main", schema, lambda path: Path(paths.local(path)), spark)
    ensure_schema(spark, "main", schema)
    sample.prepare(place)
    folder = write_files(tmp_path / "stand_ins", sample.stand_ins)
    update = pipelines.run(
        [*sorted(folder.glob("*.py")), *(checkout / source for source in sample.sources)],
        pipelines.UpdateOptions(
            name=schema,
            schema=schema,
            configuration=sample.configuration(place),
            root=folder if sample.stand_ins else checkout,
        ),
        session=spark,
        settings=suite_settings,
    )
    failed = "; ".join(
        f"{dataset.name}: {dataset.error}" for dataset in update.datasets if dataset.state == "FAILED"
    )
    error = (update.error or "the rows are other ones").replace(f"{checkout}/", "")
    verdict = Verdict(sample.key, "FAILED", len(update.datasets), error)
    note(verdict)
    assert update.state == "COMPLETED", f"{update.error} {failed}"
    for query, expected in sample.expected.items():
        found = spark.sql(query.format(schema=f"main.{schema}")).collect()
        rows = [tuple(map(_shown, row)) for row in found]
        assert sorted(rows, key=repr) == sorted(expected, key=repr), query
    note(replace(verdict, state="COMPLETED", error=""))


def _shown(value: object) -> object:
    """Decimals, dates and times as their text."""
    return value if value is None or isinstance(value, int | float | str) else str(value)
