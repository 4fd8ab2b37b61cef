"""Generated and identity columns in declared schemas, in every kind of dataset and both languages."""

from __future__ import annotations

import pytest

from tests.pipelines.conftest import Lab

COLUMNS = """id BIGINT COMMENT 'key', v STRING, seq BIGINT,
    d BIGINT GENERATED ALWAYS AS (id * 2) COMMENT 'twice',
    n BIGINT GENERATED {how} AS IDENTITY (START WITH 10 INCREMENT BY 5)"""
PYTHON = """
from pyspark import pipelines as dp

COLUMNS = '''%s'''

@dp.table(schema=COLUMNS)
def streamed():
    return spark.readStream.table("SRC.feed")

@dp.materialized_view(schema=COLUMNS)
def view():
    return spark.read.table("SRC.feed")

dp.create_streaming_table("appended", schema=COLUMNS)
@dp.append_flow(target="appended")
def append():
    return spark.readStream.table("SRC.feed")

dp.create_streaming_table("once", schema=COLUMNS)
@dp.append_flow(target="once", once=True, name="once_flow")
def once():
    return spark.read.table("SRC.feed")

for scd_type, more in ((1, ""), (2, ", __START_AT BIGINT, __END_AT BIGINT")):
    dp.create_streaming_table(f"changes_{scd_type}", schema=COLUMNS + more)
    dp.create_auto_cdc_flow(
        target=f"changes_{scd_type}", source="SRC.feed", keys=["id"], sequence_by="seq",
        stored_as_scd_type=scd_type,
    )
"""
SQL = """
CREATE STREAMING TABLE sql_streamed (%s) AS SELECT * FROM STREAM SRC.feed;
CREATE MATERIALIZED VIEW sql_view (%s) AS SELECT * FROM SRC.feed;
"""
TABLES = ("streamed", "view", "appended", "once", "changes_1", "changes_2", "sql_streamed", "sql_view")


@pytest.mark.slow
@pytest.mark.parametrize("how", ["ALWAYS", "BY DEFAULT"])
def test_every_dataset_has_its_generated_columns(lab: Lab, how: str) -> None:
    columns = COLUMNS.format(how=how)
    lab.seed("feed", "SELECT id, string(id) AS v, 1L AS seq FROM range(1, 4)")
    lab.file("a.py", PYTHON % columns)
    lab.file("b.sql", SQL % (columns, columns))
    lab.done()
    lab.seed("feed", "SELECT 1L AS id, 'new' AS v, 2L AS seq")
    lab.done()
    for name in TABLES:
        rows = lab.table(name).collect()
        assert all(row["d"] == row["id"] * 2 for row in rows), (name, rows)
        numbers = [row["n"] for row in rows]
        assert len(set(numbers)) == len(rows) == (3 if name in ("changes_1", "once") else 4), (name, rows)
        assert all(number >= 10 and number % 5 == 0 for number in numbers), (name, rows)
        comments = {field.name: field.metadata.get("comment") for field in lab.table(name).schema}
        assert (comments["id"], comments["d"]) == ("key", "twice"), name


def test_a_declared_schema_with_generated_columns_is_read_in_the_dry_run(lab: Lab) -> None:
    columns = COLUMNS.format(how="ALWAYS")
    lab.seed("feed", "SELECT id, string(id) AS v, 1L AS seq FROM range(1, 4)")
    lab.file("a.py", PYTHON % columns)
    lab.file("b.sql", SQL % (columns, columns))
    lab.done(dry_run=True)
    lab.file("b.sql", (SQL % (columns, columns)).replace("IDENTITY", "IDENTITIES"))
    update = lab.run(dry_run=True)
    assert update.state == "FAILED" and "PARSE_SYNTAX_ERROR" in str(update.error)
