"""CREATE VIEW in SQL of pipelines: a view of the catalog, under its name, whatever reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.testing import Lakehouse

SOURCE = "CREATE MATERIALIZED VIEW numbers AS SELECT id FROM range(4);\n"


def run(lakehouse: Lakehouse, tmp_path: Path, text: str, **options: object) -> None:
    file = tmp_path / "source.sql"
    file.write_text(text, encoding="utf-8")
    lakehouse.run(file, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["small", "gold_views.small", "main.gold_views.small"])
@pytest.mark.parametrize(
    "clauses", ["", "(number)", "(number COMMENT 'a number') COMMENT 'small ones' TBLPROPERTIES ('a' = 'b')"]
)
def test_the_view_is_in_the_catalog(lakehouse: Lakehouse, tmp_path: Path, name: str, clauses: str) -> None:
    run(lakehouse, tmp_path, f"{SOURCE}CREATE VIEW {name} {clauses} AS SELECT id FROM numbers WHERE id < 2")
    view = lakehouse.table(name)
    assert view.columns == ["number" if clauses else "id"]
    assert sorted(row[0] for row in view.collect()) == [0, 1]


@pytest.mark.parametrize("name", ["small", "gold_views.small", "main.gold_views.small"])
@pytest.mark.parametrize(
    "reader",
    [
        "CREATE MATERIALIZED VIEW reader AS SELECT {}.id FROM {} JOIN numbers USING (id)",
        "CREATE VIEW reader AS SELECT id FROM {}",
        "CREATE TEMPORARY VIEW b AS SELECT * FROM {}; CREATE MATERIALIZED VIEW reader AS SELECT id FROM b",
    ],
)
def test_other_datasets_read_it(lakehouse: Lakehouse, tmp_path: Path, name: str, reader: str) -> None:
    # The reader comes first: neither the order in the file nor that of creation matters.
    text = reader.replace("{}", name).replace("small.id", f"{name.rpartition('.')[2]}.id")
    run(lakehouse, tmp_path, f"{text};\n{SOURCE}CREATE VIEW {name} AS SELECT id FROM numbers WHERE id < 2")
    assert sorted(row.id for row in lakehouse.table("reader").collect()) == [0, 1]


def test_it_shows_rows_of_later_updates_and_its_new_query(lakehouse: Lakehouse, tmp_path: Path) -> None:
    for bound in (2, 3):
        run(lakehouse, tmp_path, f"{SOURCE}CREATE VIEW small AS SELECT id FROM numbers WHERE id < {bound}")
        assert lakehouse.table("small").count() == bound


def test_a_dry_run_creates_nothing(lakehouse: Lakehouse, tmp_path: Path) -> None:
    run(lakehouse, tmp_path, f"{SOURCE}CREATE VIEW small AS SELECT id FROM numbers", dry_run=True)
    assert not lakehouse.spark.catalog.tableExists("small")


def test_a_view_of_a_temporary_view_is_left_to_the_update(
    lakehouse: Lakehouse, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run(
        lakehouse,
        tmp_path,
        f"{SOURCE}CREATE TEMPORARY VIEW t AS SELECT id FROM numbers; CREATE VIEW v AS SELECT * FROM t; "
        "CREATE MATERIALIZED VIEW reader AS SELECT * FROM v",
    )
    assert lakehouse.table("reader").count() == 4
    assert "The view v is not created in the catalog" in caplog.text


def test_a_view_of_a_stream_is_left_to_the_update(
    lakehouse: Lakehouse, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lakehouse.seed("numbers", [(1,), (2,)], "id BIGINT")
    text = "CREATE VIEW v AS SELECT * FROM STREAM numbers; CREATE STREAMING TABLE t AS SELECT * FROM STREAM v"
    run(lakehouse, tmp_path, text)
    assert lakehouse.table("t").count() == 2
    assert "The view v is not created in the catalog" in caplog.text
    assert not lakehouse.spark.catalog.tableExists("v")
