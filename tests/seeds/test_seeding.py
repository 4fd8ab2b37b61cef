"""Seeds become tables whole, or not at all; a missing table is made out of its declared seed."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from delta.tables import DeltaTable
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from lakeward.errors import SeedError
from lakeward.seeds import TableName, seed_files
from lakeward.session import Settings, session
from lakeward.testing import Lakehouse

DDL = "CREATE TABLE IF NOT EXISTS prod.x.t (id BIGINT NOT NULL, name STRING COMMENT 'who') USING delta;\n"
CSV = "id,name\n1,Ann\n2,\n"


def table(name: str) -> TableName:
    return TableName.of(name, catalog="main", schema="default")


@pytest.fixture
def home(spark: SparkSession, suite_settings: Settings, tmp_path: Path) -> Iterator[SparkSession]:
    """A lakehouse of the test's own, in a folder that can have a pyproject.toml."""
    yield session(Settings.here(tmp_path, environ={}, conf=suite_settings.conf))
    session(suite_settings)


def test_files_of_every_kind_become_tables_with_the_same_rows(home: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(CSV)
    (tmp_path / "a.tsv").write_text(CSV.replace(",", "\t"))
    (tmp_path / "lines.json").write_text('{"id": 1, "name": "Ann"}\n{"id": 2}\n')
    (tmp_path / "document.json").write_text('[{"id": 1, "name": "Ann"},\n {"id": 2}]')
    frame = home.createDataFrame([(1, "Ann"), (2, None)], "id bigint, name string")
    frame.write.parquet(str(tmp_path / "parquet"))
    frame.write.format("delta").save(str(tmp_path / "delta"))
    (tmp_path / "t.sql").write_text(DDL)
    for name in ("a.csv", "a.tsv", "lines.json", "document.json", "parquet", "delta"):
        assert seed_files(home, table("c.s.t"), tmp_path / name, tmp_path / "t.sql") == 2
        rows = home.table("c.s.t")
        assert sorted(map(tuple, rows.collect())) == [(1, "Ann"), (2, None)], name
        assert [field.dataType.simpleString() for field in rows.schema] == ["bigint", "string"]
    assert seed_files(home, table("c.s.t"), tmp_path / "t.sql") == 0
    assert home.table("c.s.t").columns == ["id", "name"]
    (tmp_path / "columns.ddl").write_text("id bigint, at timestamp")
    assert seed_files(home, table("c.s.empty"), tmp_path / "columns.ddl") == 0
    assert home.table("c.s.empty").columns == ["id", "at"]


def test_columns_may_have_any_name(home: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "plain.csv").write_text(CSV)
    (tmp_path / "special.csv").write_text("User ID,Price (Rs.),a=b\n1,2.5,x\n")
    (tmp_path / "nested.json").write_text('{"id": 1, "at": [{"the place": "C"}]}\n')
    # Each as a new table, and in place of one whose names were plain, or had special characters.
    for name in ("special", "nested", "plain", "special", "plain", "nested"):
        file = tmp_path / f"{name}.{'json' if name == 'nested' else 'csv'}"
        for into in (f"c.s.{name}", "c.s.replaced"):
            assert seed_files(home, table(into), file) == (2 if name == "plain" else 1)
    assert home.table("c.s.special").columns == ["User ID", "Price (Rs.)", "a=b"]
    assert tuple(home.sql("SELECT `User ID`, `Price (Rs.)` FROM c.s.special").first() or ()) == (1, 2.5)
    assert tuple(home.sql("SELECT at[0].`the place` FROM c.s.replaced").first() or ()) == ("C",)
    home.sql("INSERT INTO c.s.special VALUES (2, 3.5, 'y')")
    assert home.table("c.s.special").count() == 2


def test_fields_of_structs_go_by_their_names(home: SparkSession, tmp_path: Path) -> None:
    frame = home.sql("SELECT 1L id, named_struct('city', 'C', 'street', 'S') place")
    frame.write.parquet(str(tmp_path / "parquet"))
    frame.write.json(str(tmp_path / "lines.json"))
    (tmp_path / "t.sql").write_text("id bigint, place struct<street: string, city: string>")
    for name in ("parquet", "lines.json"):
        seed_files(home, table("c.s.places"), tmp_path / name, tmp_path / "t.sql")
        assert tuple(home.sql("SELECT place.street, place.city FROM c.s.places").first() or ()) == ("S", "C")


@pytest.mark.parametrize(
    ("csv", "ddl", "said"),
    [
        (CSV, "id bigint", "has `name`, which the schema in"),
        (CSV, "id bigint, name string, at date", "lacks `at`"),
        ("id,name\nx,Ann\n", "id bigint, name string", "does not fit its schema"),
        (CSV, "id biggint", "declares no schema"),
        (CSV, "CREATE VIEW v AS SELECT 1", "creates no table"),
    ],
)
def test_a_seed_with_the_wrong_schema_touches_nothing(
    home: SparkSession, tmp_path: Path, csv: str, ddl: str, said: str
) -> None:
    (tmp_path / "a.csv").write_text(csv)
    (tmp_path / "a.sql").write_text(ddl)
    with pytest.raises(SeedError, match=said) as caught:
        seed_files(home, table("fresh.s.t"), tmp_path / "a.csv", tmp_path / "a.sql")
    assert caught.value.condition == "SEED_SCHEMA_MISMATCH"
    assert caught.value.exit_code == 2
    assert not (tmp_path / ".lakeward/local/warehouse/fresh").exists()


BINARY = bytes(range(128, 256)) * 4


@pytest.mark.parametrize(
    ("files", "condition", "said"),
    [
        ({"a.csv": b""}, "SEED_SCHEMA_MISSING", "a.csv has no columns: it is empty"),
        ({"a.json": b" \n"}, "SEED_SCHEMA_MISSING", "a.json has no columns"),
        ({"a.json": BINARY}, "SEED_SCHEMA_MISMATCH", "a.json is not UTF-8 text"),
        ({"a.json.gz": b"no archive"}, "SEED_SCHEMA_MISMATCH", "a.json.gz is damaged"),
        ({"a.json.gz": gzip.compress(b'[{"a": 1}]' * 99)[:15]}, "SEED_SCHEMA_MISMATCH", "is damaged"),
        ({"a.sql": b"  ;"}, "SEED_SCHEMA_MISSING", "a.sql is empty"),
        ({"a.sql": BINARY}, "SEED_SCHEMA_MISMATCH", "a.sql cannot be read: it is not UTF-8 text"),
        ({"a.csv": CSV.encode(), "b.sql": BINARY}, "SEED_SCHEMA_MISMATCH", "b.sql cannot be read"),
        ({"a.csv": CSV.encode(), "b.sql": b""}, "SEED_SCHEMA_MISSING", "b.sql is empty"),
    ],
)
def test_a_seed_without_content_is_a_mistake_of_its_author(
    home: SparkSession, tmp_path: Path, files: dict[str, bytes], condition: str, said: str
) -> None:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    source, ddl = [tmp_path / name for name in files] + [None] * (2 - len(files))
    assert source is not None
    with pytest.raises(SeedError, match=said) as caught:
        seed_files(home, table("fresh.s.t"), source, ddl)
    assert caught.value.condition == condition


def test_a_declared_seed_takes_the_place_of_a_table_that_is_missing_when_it_is_read(
    home: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[tool.lakeward.seeds]\n"
        + "".join(f'"prod.crm.{name}" = "a.csv"\n' for name in ("a", "b", "c", "d", "e", "f"))
        + '"bare" = "a.csv"\n"prod.crm.broken" = "gone.csv"\n'
    )
    (tmp_path / "a.csv").write_text(CSV)
    assert home.sql("SELECT count(*) FROM prod.crm.a JOIN prod.crm.b USING (id)").first() == (2,)
    assert home.table("prod.crm.c").count() == 2
    assert home.read.table("prod.crm.d").count() == 2
    assert home.catalog.tableExists("prod.crm.e")
    assert DeltaTable.forName(home, "prod.crm.f").toDF().count() == 2
    assert home.readStream.table("bare").isStreaming
    home.sql("DELETE FROM prod.crm.a")
    assert home.table("prod.crm.a").count() == 0, "what is there is left as it is"
    assert not home.catalog.tableExists("prod.crm.absent")
    with pytest.raises(SeedError, match=r"gone\.csv does not exist"):
        home.table("prod.crm.broken")


def test_the_error_about_another_missing_table_says_what_helps(home: SparkSession) -> None:
    def error(read: Any) -> str:
        with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND") as caught:
            read()
        return "\n".join(getattr(caught.value, "__notes__", [str(caught.value)]))

    assert "`lakeward seed prod.crm.people --from FILE`" in error(lambda: home.table("prod.crm.people"))
    assert "`lakeward seed main.default.people --from FILE`" in error(
        lambda: home.sql("SELECT * FROM people")
    )


def test_a_test_seeds_rows_or_learns_what_is_wrong_with_them(home: SparkSession, tmp_path: Path) -> None:
    lakehouse = Lakehouse(home, Settings.here(tmp_path, environ={}))
    assert lakehouse.seed("c.s.t", [{"id": 1}, {"id": 2, "name": "x"}], "id bigint, name string").count() == 2
    lakehouse.seed("c.s.t", [(3, "y")], "id bigint, name string")
    wrong: list[tuple[list[Any], Any, str]] = [
        ([{"id": 1, "nmae": "x"}], "id bigint, name string", r"Row 1 has `nmae`, which the schema lacks"),
        ([("x", "y")], "id bigint, name string", "do not fit the schema"),
        ([(1, "y", 3)], "id bigint, name string", "do not fit the schema"),
        ([(1, "y")], None, 'schema="id bigint, name string"'),
        ([], None, "No rows were given"),
        ([(1,)], "id biggint", "is not a schema"),
    ]
    for rows, schema, said in wrong:
        with pytest.raises(SeedError, match=said):
            lakehouse.seed("c.s.t", rows, schema)
    assert lakehouse.table("c.s.t").collect() == [(3, "y")]


def test_a_declared_seed_comes_before_the_empty_table_that_every_workspace_has(
    spark: SparkSession, suite_settings: Settings, tmp_path: Path
) -> None:
    seeds = '[tool.lakeward.seeds]\n"system.billing.usage" = "usage.csv"\n'
    (tmp_path / "pyproject.toml").write_text(seeds)
    (tmp_path / "usage.csv").write_text("sku_name,usage_quantity\nJOBS,1.5\n")
    try:
        home = session(Settings.here(tmp_path, environ={}, conf=suite_settings.conf))
        assert home.catalog.tableExists("system.billing.usage")
        assert [row.sku_name for row in home.table("system.billing.usage").collect()] == ["JOBS"]
        assert home.sql("SELECT * FROM system.billing.list_prices").isEmpty()
    finally:
        session(suite_settings)
