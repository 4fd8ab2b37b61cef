"""Policies of a pipeline's tables: readers see what they let through, writers meet the whole table."""

from __future__ import annotations

import pytest

from tests.pipelines.conftest import Lab, result

FILTERED = """
    from pyspark import pipelines as dp
    @dp.table(row_filter="ROW FILTER SRC.keep ON (region)")
    def streamed(): return spark.readStream.table("SRC.people").drop("seq")
    @dp.materialized_view(row_filter="WITH ROW FILTER SRC.keep ON (region)")
    def viewed(): return spark.table("SRC.people")
    @dp.materialized_view
    def seen(): return spark.sql("SELECT count(*) AS n FROM streamed")
    dp.create_streaming_table("versions", row_filter="ROW FILTER SRC.keep ON (region)")
    dp.create_auto_cdc_flow(
        target="versions", source="SRC.people", keys=["id"], sequence_by="seq", stored_as_scd_type=2,
        except_column_list=["seq"],
    )
"""


def _people(lab: Lab, *rows: tuple[int, str, int]) -> None:
    values = ", ".join(f"({number}, '{region}', {seq})" for number, region, seq in rows)
    lab.seed("people", f"SELECT * FROM VALUES {values} AS v(id, region, seq)")


@pytest.fixture
def filtering(lab: Lab) -> Lab:
    """A laboratory with the function that the filters call: it lets the region EU through."""
    lab.spark.sql(
        f"CREATE OR REPLACE FUNCTION main.{lab.source}.keep(r STRING) RETURNS BOOLEAN RETURN r = 'EU'"
    )
    return lab


def _whole(lab: Lab, table: str) -> int:
    location = lab.spark.sql(f"DESCRIBE DETAIL main.{lab.schema}.{table}").collect()[0]["location"]
    return lab.spark.read.format("delta").load(location).count()


@pytest.mark.slow
def test_a_row_filter_holds_for_reads_by_name_and_for_no_writer(filtering: Lab) -> None:
    lab = filtering
    _people(lab, (1, "EU", 1), (2, "US", 1), (3, "EU", 1))
    lab.file("a.py", FILTERED)
    lab.done()
    assert lab.rows("streamed") == [(1, "EU"), (3, "EU")] and _whole(lab, "streamed") == 3
    assert lab.rows("viewed", "id") == [(1,), (3,)] and lab.rows("seen") == [(2,)]
    _people(lab, (2, "EU", 2), (3, "US", 2))
    lab.done()
    assert lab.rows("streamed", "id") == [(1,), (2,), (3,)] and _whole(lab, "streamed") == 5
    assert lab.rows("viewed", "id") == [(1,), (2,), (3,)] and _whole(lab, "viewed") == 5
    # Had the flow met the filtered table, the row of 2 in the US would have no end.
    assert lab.rows("versions", "id, __START_AT, __END_AT") == [(1, 1, None), (2, 2, None), (3, 1, 2)]
    assert _whole(lab, "versions") == 5


def test_policies_that_are_no_longer_declared_are_dropped(filtering: Lab) -> None:
    lab = filtering
    _people(lab, (1, "EU", 1), (2, "US", 1))
    lab.spark.sql(f"CREATE OR REPLACE FUNCTION main.{lab.source}.hide(s INT) RETURNS INT RETURN -s")
    columns = "(id INT MASK SRC.hide, region STRING, seq INT)"
    text = """
        CREATE STREAMING TABLE s COLUMNS WITH ROW FILTER SRC.keep ON (region)
        AS SELECT * FROM STREAM(SRC.people);
        CREATE MATERIALIZED VIEW m COLUMNS ROW FILTER SRC.keep ON (region) AS SELECT * FROM SRC.people
    """
    lab.file("a.sql", text.replace("COLUMNS", columns))
    lab.done()
    assert [lab.rows(name, "id") for name in ("s", "m")] == [[(-1,)]] * 2
    without = text.replace("COLUMNS", "").replace("WITH ROW FILTER", "ROW FILTER")
    lab.file("a.sql", without.replace("ROW FILTER SRC.keep ON (region)", ""))
    lab.done()
    assert [lab.rows(name, "id") for name in ("s", "m")] == [[(1,), (2,)]] * 2
    lab.spark.sql(f"ALTER TABLE main.{lab.schema}.s SET ROW FILTER main.{lab.source}.keep ON (region)")
    lab.done()
    assert len(lab.rows("s")) == 1, "a filter set outside of the pipeline is kept"


def test_a_filter_that_cannot_be_set_shows_no_row(filtering: Lab) -> None:
    lab = filtering
    _people(lab, (1, "EU", 1))
    text = "CREATE MATERIALIZED VIEW m ROW FILTER SRC.keep ON (nope) AS SELECT * FROM SRC.people"
    lab.file("a.sql", text + ";\n" + text.replace("MATERIALIZED VIEW m", "STREAMING TABLE s", 1).replace(
        "FROM SRC.people", "FROM STREAM(SRC.people)"
    ))  # fmt: skip
    update = lab.run()
    assert update.state == "FAILED"
    for name in ("m", "s"):
        assert "UNRESOLVED_COLUMN" in str(result(update, name).error)
        assert lab.rows(name) == []
