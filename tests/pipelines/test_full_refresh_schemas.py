"""A full refresh takes the current schema of its query: it drops and re-creates columns (SDP-4.7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.errors import ConfigurationError
from lakeward.pipelines.graph.dataflow_graph import RefreshSelection
from lakeward.pipelines.graph.elements import Flow, SourceCodeLocation
from lakeward.pipelines.storage.checkpoints import Checkpoints, SchemaLocations
from tests.pipelines.conftest import Lab

# `t` and `seq` change their types, `gone` goes, `new` comes; every table is partitioned by another column.
BEFORE = "id,seq,t,gone,p,q\n1,1,2024-01-01,x,a,c\n2,2,2024-01-02,y,b,d\n"
AFTER = "id,seq,t,p,q,new\n1,2024-05-01,unknown,a,c,7\n2,2024-05-02,never,b,d,8\n"
COLUMNS = {
    "before": {"id": "int", "seq": "int", "t": "date", "gone": "string", "p": "string", "q": "string"},
    "after": {"id": "int", "seq": "date", "t": "string", "p": "string", "q": "string", "new": "int"},
}
PIPELINE = """
from pyspark import pipelines as dp

def files():
    stream = spark.readStream.format("cloudFiles").option("cloudFiles.format", "csv").option("header", "true")
    return stream.option("cloudFiles.inferColumnTypes", "true").load("FILES")

@dp.temporary_view
def feed():
    return files().drop("_rescued_data")

@dp.table(partition_cols=["PARTITION"])
def direct():
    return files().drop("_rescued_data")

dp.create_streaming_table("appended", partition_cols=["PARTITION"])
for flow in ("first", "second"):
    @dp.append_flow(target="appended", name=flow)
    def append():
        return spark.readStream.table("feed")

for scd_type in (1, 2):
    dp.create_streaming_table(f"changes_{scd_type}", partition_cols=["PARTITION"])
    dp.create_auto_cdc_flow(
        target=f"changes_{scd_type}", source="feed", keys=["id"], sequence_by="seq",
        stored_as_scd_type=scd_type,
    )

@dp.materialized_view(partition_cols=["PARTITION"])
def view():
    return spark.read.table("direct")

@dp.table(table_properties={"pipelines.reset.allowed": "false"})
def kept():
    return files().drop("_rescued_data")
"""
TABLES = ("direct", "appended", "changes_1", "changes_2", "view")


def write(lab: Lab, text: str, partition: str) -> None:
    folder = lab.folder / "csv"
    folder.mkdir(exist_ok=True)
    (folder / "a.csv").write_text(text)
    lab.file("p.py", PIPELINE.replace("FILES", str(folder)).replace("PARTITION", partition))


def require_columns(lab: Lab, when: str, partition: str) -> None:
    for name in TABLES:
        table, columns = lab.table(name), dict(COLUMNS[when])
        if name == "changes_2":
            columns |= {"__START_AT": columns["seq"], "__END_AT": columns["seq"]}
        assert dict(table.dtypes) == columns, name
        assert table.count() == (4 if name == "appended" else 2), name
        detail = lab.spark.sql(f"DESCRIBE DETAIL main.{lab.schema}.{name}").collect()[0]
        assert detail["partitionColumns"] == [partition], name
    assert dict(lab.table("kept").dtypes) == COLUMNS["before"] and lab.table("kept").count() == 2


@pytest.mark.slow
def test_a_full_refresh_takes_the_schema_that_is_inferred_now(lab: Lab) -> None:
    write(lab, BEFORE, "p")
    lab.done()
    require_columns(lab, "before", "p")
    write(lab, AFTER, "q")
    lab.done(full_refresh=TABLES)
    require_columns(lab, "after", "q")
    write(lab, BEFORE, "p")
    lab.done(full_refresh_all=True)
    require_columns(lab, "before", "p")
    with pytest.raises(ConfigurationError, match="TABLE_NOT_RESETTABLE"):
        lab.run(full_refresh=["kept"])


@pytest.mark.parametrize("how", ["full refresh", "interrupted full refresh", "reset checkpoint", "refresh"])
def test_both_phases_of_an_update_use_one_schema(tmp_path: Path, how: str) -> None:
    checkpoints, key = Checkpoints(tmp_path), ("main", "s", "t")
    flow = Flow("f", key, lambda: None, SourceCodeLocation("a.py", 1))
    checkpoints.current(key, "f").mkdir(parents=True)
    before = SchemaLocations(tmp_path, checkpoints, tmp_path / "first")
    Path(before.for_analysis(flow, 0)).mkdir(parents=True)
    (Path(before.for_analysis(flow, 0)) / "schema").write_text("before")
    before.for_execution(flow, 0)

    places = SchemaLocations(tmp_path, checkpoints, tmp_path / "trial")
    reset = frozenset([key] if "full" in how else [])
    places.selection = RefreshSelection(
        frozenset([key]), reset, frozenset([(key, "f")] if how == "reset checkpoint" else [])
    )
    if how == "interrupted full refresh":
        checkpoints.begin_reset(key, ["f"])
        (tmp_path / "checkpoints" / "main.s.t" / "f" / "1").mkdir()  # killed before the intent was removed
    tried = Path(places.for_analysis(flow, 0))
    assert tried.exists() is (how == "refresh")
    tried.mkdir(parents=True, exist_ok=True)
    (tried / "schema").write_text("now")
    if reset:
        checkpoints.begin_reset(key, ["f"])
        checkpoints.finish_reset(key)
    elif how == "reset checkpoint":
        checkpoints.restart(key, "f")
    assert (Path(places.for_execution(flow, 0)) / "schema").read_text() == (
        "before" if how == "refresh" else "now"
    )
