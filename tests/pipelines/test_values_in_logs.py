"""Delta's log has no values of columns that a table's owner has excluded from statistics."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pipelines.conftest import LIMITS, Lab, replace_rows, result
from tests.pipelines.incremental import planned

pytestmark = pytest.mark.rule("SDP-3.2")

VIEWS = {
    "merged": "SELECT name, count(*) AS n FROM a GROUP BY name",
    "replaced": "SELECT name, max(n) AS n FROM a GROUP BY name",
    "row_by_row": "SELECT name, n FROM a WHERE n > 0",
    "newest": "SELECT name, n FROM a QUALIFY row_number() OVER (PARTITION BY name ORDER BY n DESC) = 1",
}
TARGETS = {"one": 1, "two": 2}
NAMES = "concat('name-', lpad(id, 3, '0'))"


def declaration(properties: dict[str, str]) -> str:
    """Return Python that declares the views and the targets of AUTO CDC."""
    lines = ["from pyspark import pipelines as dp"]
    for name, query in VIEWS.items():
        text = query.replace(" FROM a", " FROM SRC.a")
        lines += [
            f"@dp.materialized_view(table_properties={properties!r}, refresh_policy='incremental')",
            f"def {name}(): return spark.sql({text!r})",
        ]
    for name, kind in TARGETS.items():
        flow = f"target={name!r}, source='SRC.a', keys=['name'], sequence_by='n', stored_as_scd_type={kind}"
        lines += [
            f"dp.create_streaming_table({name!r}, table_properties={properties!r})",
            f"dp.create_auto_cdc_flow({flow})",
        ]
    return "\n".join(lines)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("is_excluded", "way"),
    [*((True, way) for way in LIMITS), (False, "merges")],
)
def test_the_log_has_values_of_keys_only_where_statistics_have_them(
    lab: Lab, is_excluded: bool, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_rows(monkeypatch, way)
    lab.seed("a", f"SELECT {NAMES} AS name, id AS n FROM range(1, 100)")
    properties = {"delta.dataSkippingStatsColumns": "n"} if is_excluded else {}
    lab.file("datasets.py", declaration(properties))
    lab.done()
    lab.seed("a", f"SELECT {NAMES} AS name, id + 1000 AS n FROM range(40, 45)")
    update = lab.done()
    assert {each.chosen for each in planned(lab, update).values()}.isdisjoint({"COMPLETE_RECOMPUTE"})
    for name in (*VIEWS, *TARGETS):
        detail = lab.spark.sql(f"DESCRIBE DETAIL main.{lab.schema}.{name}").collect()[0]
        log = Path(detail["location"].removeprefix("file:")) / "_delta_log"
        merges = [
            json.loads(line)["commitInfo"]
            for file in sorted(log.glob("*.json"))
            for line in file.read_text().splitlines()
            if '"commitInfo"' in line and '"MERGE"' in line
        ]
        # A change that marks rows records no condition.
        texts = [str(each["operationParameters"]) for each in merges if each["operationParameters"]]
        whole = "".join(file.read_text() for file in log.glob("*.json"))
        assert ("name-04" in whole) is not is_excluded, name
        if texts and name != "row_by_row":
            # Only a range of a column with statistics skips files.
            assert ("name-04" in texts[-1]) is not is_excluded, (name, texts)
    assert result(update, "newest").rows_written
