"""Flows that replace rows of their target: by the keys of new rows, or by a condition."""

from __future__ import annotations

from typing import Any

import pytest

from tests.pipelines.conftest import Lab, result


def in_sql(text: str) -> Any:
    return pytest.param("a.sql", text, marks=pytest.mark.slow)


KEYED = """
    from pyspark import pipelines as dp
    dp.create_streaming_table("latest", expect_all_or_drop={"has a device": "device IS NOT NULL"})
    @dp.replace_flow(target="latest", replace_using=["region"], sequence_by="seq")
    def snapshots():
        return spark.readStream.table("SRC.events")
"""
KEYED_IN_SQL = """
    CREATE OR REFRESH STREAMING TABLE latest
      (CONSTRAINT `has a device` EXPECT (device IS NOT NULL) ON VIOLATION DROP ROW);
    CREATE FLOW snapshots AS INSERT INTO latest REPLACE USING (region) SEQUENCE BY seq BY NAME
    SELECT * FROM STREAM(SRC.events);
"""


@pytest.mark.slow
@pytest.mark.parametrize(("file", "text"), [("a.py", KEYED), in_sql(KEYED_IN_SQL)])
def test_the_newest_rows_of_a_key_replace_the_others(lab: Lab, file: str, text: str) -> None:
    columns = "SELECT * FROM VALUES {} AS v(region, device, seq)"
    lab.seed("events", columns.format("(1, 'iOS', 1), (1, 'web', 1), (2, 'tv', 1), (NULL, 'x', 1)"))
    lab.file(file, text)
    assert result(lab.done(), "latest").rows_written == 4
    late, tie, newer = "(1, 'late', 0)", "(2, 'same', 1)", "(1, 'web', 2), (1, 'old', 1), (NULL, 'y', 2)"
    lab.seed("events", columns.format(f"{late}, {tie}, {newer}, (3, NULL, 9), (3, 'tv', 8)"))
    second = result(lab.done(), "latest")
    assert lab.rows("latest") == [(1, "web", 2), (2, "same", 1), (2, "tv", 1), (3, "tv", 8), (None, "y", 2)]
    assert (second.rows_written, second.dropped) == (4, 1)
    version = lab.version("latest")
    lab.done()
    assert lab.version("latest") == version, "nothing new, nothing written"


WHERE = """
    from pyspark import pipelines as dp
    @dp.table(replace_where="day >= date'2024-01-02'")
    @dp.expect_or_drop("counted", "n >= 0")
    def recent():
        return spark.read.table("SRC.facts")
"""
WHERE_IN_SQL = """
    CREATE STREAMING TABLE recent (CONSTRAINT counted EXPECT (n >= 0) ON VIOLATION DROP ROW)
    FLOW REPLACE WHERE day >= date'2024-01-02' BY NAME SELECT * FROM SRC.facts;
"""


@pytest.mark.parametrize(("file", "text"), [("a.py", WHERE), in_sql(WHERE_IN_SQL)])
def test_rows_of_a_condition_are_recomputed_and_the_others_stay(lab: Lab, file: str, text: str) -> None:
    lab.seed("facts", "SELECT date'2024-01-01' day, 1 n UNION ALL SELECT date'2024-01-03', 3")
    lab.file(file, text)
    first = lab.done()
    assert result(first, "recent").kind == "streaming_table"
    assert lab.rows("recent", "CAST(day AS STRING), n") == [("2024-01-03", 3)]
    lab.spark.sql(f"INSERT INTO main.{lab.schema}.recent VALUES (date'2023-01-01', 0)")
    lab.spark.sql(f"UPDATE main.{lab.source}.facts SET n = n + 10")
    lab.seed("facts", "SELECT date'2024-01-02' day, -1 n")
    assert result(lab.done(), "recent").dropped == 1
    assert lab.rows("recent", "CAST(day AS STRING), n") == [("2023-01-01", 0), ("2024-01-03", 13)]


def test_wrong_replacing_flows_are_found_by_a_dry_run(lab: Lab) -> None:
    lab.seed("events", "SELECT 1 region, 1 seq")
    lab.file("a.py", """
        import dlt
        dlt.create_streaming_table("batch")
        @dlt.replace_flow(target="batch", replace_using=["region"], sequence_by="seq")
        def one(): return spark.read.table("SRC.events")
        dlt.create_streaming_table("misspelt")
        @dlt.replace_flow(target="misspelt", replace_using=["regoin"], sequence_by="seq")
        def two(): return spark.readStream.table("SRC.events")
        @dlt.table(replace_where="seq > 0")
        def stream(): return spark.readStream.table("SRC.events")
    """)  # fmt: skip
    error = str(lab.run(dry_run=True).error)
    conditions = sorted(line.split("]")[0][1:] for line in error.splitlines() if line.startswith("["))
    assert conditions == [
        "INVALID_FLOW_QUERY_TYPE.BATCH_RELATION_FOR_STREAMING_TABLE",
        "INVALID_FLOW_QUERY_TYPE.STREAMING_RELATION_FOR_ONCE_FLOW",
        "UNRESOLVED_COLUMN.WITH_SUGGESTION",
    ]
