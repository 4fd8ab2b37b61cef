"""Sample rows of reports: what is shown, and what tags, masks, filters and damage keep out of the page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from lakeward.cli.pipeline_reports import write_report
from lakeward.dbutils import FileSecrets
from lakeward.dbutils.secret_stores import record_secret
from lakeward.report import build_report, write_page
from lakeward.report.samples import MAX_ROWS, read_sample
from lakeward.session import Settings
from tests.doctor.delta_tables import DeltaTable
from tests.report.events import Events

CANARY = "ada.lovelace@example.com"
FILTER = {"kind": "ROW_FILTER", "function": ["c", "s", "f"], "to": ["others"]}
MASK = {
    **FILTER,
    "kind": "COLUMN_MASK",
    "matches": [{"condition": "has_tag_value('kind', 'a')", "alias": "m"}],
    "column": "m",
}


def table(warehouse: Path, name: str = "c.s.t", /, **columns: list[Any]) -> DeltaTable:
    """Write a table with one file; the types are those of Arrow."""
    found = {key: "long" if isinstance(values[0], int) else "string" for key, values in columns.items()}
    made = DeltaTable(warehouse.joinpath(*name.split(".")), columns=list(found.items()))
    add(made, **columns)
    return made


def add(to: DeltaTable, *, deleted: int = 0, **columns: list[Any]) -> None:
    action = to.add(deleted=deleted)
    pq.write_table(pa.table(columns), to.folder / action["add"]["path"])
    to.commit(action)


def describe(warehouse: Path, name: str, content: Mapping[str, Any]) -> None:
    file = warehouse / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content))


def sample(warehouse: Path, name: str = "c.s.t") -> dict[str, Any]:
    found = read_sample(warehouse, name)
    assert found is not None
    return found.as_json()


def page_of(warehouse: Path, folder: Path) -> str:
    Events("u").define("c.s.t").refresh("c.s.t", 1).end().store(folder / "storage")
    document = build_report("p", folder / "storage", warehouse=warehouse)
    assert document is not None
    write_page(document, folder / "page.html")
    return (folder / "page.html").read_text(encoding="utf-8")


def test_the_newest_rows_are_shown_as_texts(tmp_path: Path) -> None:
    made = table(tmp_path, id=[1, 2], name=["old", None])
    add(made, id=list(range(10, 13)), name=["new"] * 3)
    found = sample(tmp_path)
    assert found["columns"] == ["id", "name"]
    assert found["rows"] == [["10", "new"], ["11", "new"], ["12", "new"], ["1", "old"], ["2", None]]
    assert len(found["rows"]) == MAX_ROWS


def test_removed_files_and_files_with_deleted_rows_are_not_read(tmp_path: Path) -> None:
    made = table(tmp_path, id=[1])
    add(made, id=[2], deleted=1)
    made.commit({"remove": {"path": "part-00001.parquet", "deletionTimestamp": 1}})
    assert "deleted rows" in sample(tmp_path)["note"]
    add(made, id=[3])
    assert sample(tmp_path)["rows"] == [["3"]]


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("c/s/.objects/t.table.about.json", {"column_tags": {"email": {"pii": ""}}}),
        ("c/s/.objects/t.table.about.json", {"column_tags": {"email": {"class.email_address": ""}}}),
        ("c/s/.objects/t.table.about.json", {"masks": {"EMAIL": {"expression": "f(email)"}}}),
        ("c/s/.objects/t.table.about.json", {"row_filter": {"expression": "f(id)"}}),
        ("c/s/.objects/t.table.about.json", {"tags": {"classification": "Confidential"}}),
        ("c/s/.objects/.schema.about.json", {"tags": {"PII": "yes"}}),
        ("c/.objects/.catalog.about.json", {"tags": {"contains": "personal data"}}),
        ("c/s/.objects/t.table.about.json", {"policies": {"p": FILTER}}),
        ("c/s/.objects/.schema.about.json", {"policies": {"p": FILTER}}),
        ("c/.objects/.catalog.about.json", {"policies": {"p": FILTER}}),
        ("c/.objects/.catalog.about.json", {"policies": {"p": {**FILTER, "when": "no condition"}}}),
        ("c/.objects/.catalog.about.json", {"policies": {"p": {"of a later version": 1}}}),
        (
            "c/s/.objects/t.table.about.json",
            {"column_tags": {"email": {"kind": "a"}}, "policies": {"p": MASK}},
        ),
        ("c/s/.objects/t.table.about.json", ["not an object"]),
    ],
)
def test_protected_values_are_not_in_the_page(tmp_path: Path, file: str, content: Any) -> None:
    table(tmp_path / "w", id=[1], Email=[CANARY])
    assert CANARY in page_of(tmp_path / "w", tmp_path)
    describe(tmp_path / "w", file, content)
    assert CANARY not in page_of(tmp_path / "w", tmp_path)


def test_other_columns_of_a_table_with_a_tagged_one_are_shown(tmp_path: Path) -> None:
    table(tmp_path, id=[1], email=[CANARY], age=[30])
    tags = {"email": {"PII": "high"}, "age": {"pii": "false", "unit": "years"}}
    describe(tmp_path, "c/s/.objects/t.table.about.json", {"column_tags": tags})
    found = sample(tmp_path)
    assert (found["rows"], found["hidden"]) == ([["1", None, "30"]], {"email": "hidden: tag PII"})


def test_a_policy_hides_the_columns_and_tables_that_it_matches_alone(tmp_path: Path) -> None:
    table(tmp_path, id=[1], Email=[CANARY], age=[30])
    describe(tmp_path, "c/s/.objects/t.table.about.json", {"column_tags": {"email": {"kind": "a"}}})
    for policy, hidden in (
        (MASK, {"Email": "hidden: policy"}),
        ({**FILTER, "when": "has_tag('eu')"}, {}),
        ({**MASK, "matches": [{"condition": "has_tag('other')", "alias": "m"}]}, {}),
    ):
        describe(tmp_path, "c/.objects/.catalog.about.json", {"policies": {"p": policy}})
        assert sample(tmp_path)["hidden"] == hidden
        assert sample(tmp_path)["rows"] == [["1", None if hidden else CANARY, "30"]]


def test_a_tag_whose_column_has_another_name_now_hides_all_rows(tmp_path: Path) -> None:
    table(tmp_path, id=[1], mail=[CANARY])
    describe(tmp_path, "c/s/.objects/t.table.about.json", {"column_tags": {"email": {"pii": ""}}})
    assert "email was renamed or dropped" in sample(tmp_path)["note"]
    describe(tmp_path, "c/s/.objects/t.table.about.json", {"column_tags": {"gone": {"unit": "km"}}})
    assert sample(tmp_path)["rows"] == [["1", CANARY]]


def test_a_secret_that_the_process_has_read_is_redacted(tmp_path: Path) -> None:
    table(tmp_path / "w", note=["the key is s3cret-canary!"])
    record_secret(b"s3cret-canary!")
    assert "s3cret-canary!" not in page_of(tmp_path / "w", tmp_path)
    assert sample(tmp_path / "w")["rows"] == [["the key is [REDACTED]"]]


def test_rows_are_data_of_the_page_and_never_markup(tmp_path: Path) -> None:
    evil = "</script><script>document.title='broken'</script><img src=x onerror=alert(1)>"
    table(tmp_path / "w", **{evil: [evil]})
    page = page_of(tmp_path / "w", tmp_path)
    assert page.count("<script") == 2
    assert "<img" not in page


def test_tags_are_shown_with_the_schema(tmp_path: Path) -> None:
    table(tmp_path / "w", id=[1])
    about = {"tags": {"owner": "sales"}, "column_tags": {"id": {"pii": "", "unit": "<b>"}, "gone": {}}}
    describe(tmp_path / "w", "c/s/.objects/t.table.about.json", about)
    schema = [{"name": "ID", "type": "long", "metadata": {}}]
    events = Events("u").add("dataset_definition", {"dataset_type": "VIEW", "schema": schema}, "c.s.t").end()
    events.store(tmp_path / "storage")
    document = build_report("p", tmp_path / "storage", warehouse=tmp_path / "w", rows=False)
    assert document is not None
    [dataset] = document["datasets"]
    assert (dataset["tags"], dataset["schema"][0]["tags"]) == ("owner = sales", "pii, unit = <b>")
    assert "sample" not in dataset


def test_columns_of_a_table_with_column_mapping_have_their_logical_names(tmp_path: Path) -> None:
    made = table(tmp_path, email=[CANARY], id=[7])
    log = made.folder / "_delta_log" / f"{0:020}.json"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    schema = json.loads(lines[1]["metaData"]["schemaString"])
    kinds = {
        "email": "string",
        "id": "long",
        "parts": {"type": "array", "elementType": "long"},
        "any": "variant",
    }
    schema["fields"] = [
        {"name": f"new_{name}", "type": kind, "metadata": {"delta.columnMapping.physicalName": name}}
        for name, kind in kinds.items()
    ]
    lines[1]["metaData"]["schemaString"] = json.dumps(schema)
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    describe(tmp_path, "c/s/.objects/t.table.about.json", {"column_tags": {"new_email": {"pii": ""}}})
    found = sample(tmp_path)
    assert found["columns"] == ["new_email", "new_id", "new_parts", "new_any"]
    assert found["rows"] == [[None, "7", None, None]]
    assert found["hidden"] == {
        "new_email": "hidden: tag pii", "new_parts": "not shown: nested", "new_any": "not shown: variant"
    }  # fmt: skip


@pytest.mark.parametrize("name", ["c.s.none", "c.s", "c..t", "../x.s.t", "", "a.b.c.d"])
def test_what_is_no_table_of_the_warehouse_has_no_sample(tmp_path: Path, name: str) -> None:
    table(tmp_path, id=[1])
    assert read_sample(tmp_path, name) is None


@pytest.mark.parametrize("damaged", ["_delta_log/00000000000000000001.json", "part-00001.parquet"])
def test_a_damaged_file_is_a_note(tmp_path: Path, damaged: str) -> None:
    made = table(tmp_path, id=[1])
    (made.folder / damaged).write_bytes(b"\x00{")
    assert "cannot be read" in sample(tmp_path)["note"]


@pytest.mark.parametrize("kind", ["t.table", ".schema", "../../.objects/.catalog"])
@pytest.mark.parametrize("content", ["{", "[]", ""])
def test_damaged_tags_protect_all_rows(tmp_path: Path, kind: str, content: str) -> None:
    table(tmp_path, id=[1])
    file = tmp_path / "c/s/.objects" / f"{kind}.about.json"
    describe(tmp_path, str(file), {})
    file.write_text(content)
    assert "is damaged" in sample(tmp_path)["note"]


def test_a_file_outside_the_table_is_not_read(tmp_path: Path) -> None:
    made = table(tmp_path, id=[1])
    pq.write_table(pa.table({"id": [7]}), tmp_path / "outside.parquet")
    action = made.add()
    action["add"]["path"] = "../../../outside.parquet"
    made.commit(action)
    assert "rows" not in sample(tmp_path)


def test_samples_leave_the_page_small(tmp_path: Path) -> None:
    events = Events("u")
    for number in range(200):
        table(tmp_path / "w", f"c.s.t{number}", **{f"column_{i}": ["<&>" * 100] * 5 for i in range(60)})
        events.define(f"c.s.t{number}")
    events.end().store(tmp_path / "storage")
    document = build_report("p", tmp_path / "storage", warehouse=tmp_path / "w")
    assert document is not None
    write_page(document, tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size < 1_000_000
    assert "sample" in document["datasets"][0]
    assert "sample" not in document["datasets"][-1]


def test_tables_of_spark_show_what_their_tags_allow(
    spark: SparkSession, suite_settings: Settings, tmp_path: Path
) -> None:
    name = "main.default.report_sample"
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql(
        f"CREATE TABLE {name} (id BIGINT, email STRING, at TIMESTAMP, parts ARRAY<STRUCT<a: INT>>, day DATE)"
        " PARTITIONED BY (day)"
    )
    spark.sql(
        f"INSERT INTO {name} VALUES (1, '{CANARY}', TIMESTAMP '2026-05-01 06:00:00',"
        " array(struct(7)), DATE '2026-05-01')"
    )
    found = sample(suite_settings.warehouse, name)
    expected = ["1", CANARY, "2026-05-01 06:00:00", '[{"a": 7}]', "2026-05-01"]
    assert found["rows"] == [expected]
    spark.sql(f"ALTER TABLE {name} ALTER COLUMN email SET TAGS ('pii')")
    assert sample(suite_settings.warehouse, name)["rows"] == [["1", None, *expected[2:]]]
    spark.sql(f"ALTER TABLE {name} SET TAGS ('sensitive')")
    assert sample(suite_settings.warehouse, name) == {
        "note": "No rows are shown: the table has the tag sensitive."
    }
    spark.sql(f"ALTER TABLE {name} UNSET TAGS ('sensitive')")
    spark.sql(f"DROP TABLE {name}")


@pytest.fixture
def target(tmp_path: Path) -> Settings:
    """A pipeline whose table has rows with secrets that this process has not read."""
    settings = Settings.here(tmp_path, environ={})
    table(settings.warehouse, note=["key: unread-canary, token: exported-canary"])
    Events("u").define("c.s.t").refresh("c.s.t", 1).end().store(settings.pipelines / "p")
    FileSecrets(settings.secrets).put("mail", "key", b"unread-canary")
    return settings


def written(settings: Settings) -> str:
    path = write_report("p", settings)
    assert path is not None
    return path.read_text(encoding="utf-8")


def test_secrets_of_the_target_are_redacted_though_the_process_has_read_none(
    target: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEWARD_SECRET_CI_TOKEN", "exported-canary")
    assert "key: [REDACTED], token: [REDACTED]" in written(target)


def test_no_rows_are_shown_if_a_secret_cannot_be_read(target: Settings) -> None:
    file = target.secrets / "mail" / "key"
    file.chmod(0o644)
    page = written(target)
    assert "unread-canary" not in page
    assert "the secret mail/key cannot be read" in page
    file.chmod(0o600)
    assert "the secret mail/key cannot be read" not in written(target)
