"""What a seed is: names, kinds of files, declarations. No Spark."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from lakeward.errors import SeedError
from lakeward.seeds import TableName, declared_seeds, files, missing_table, seed_hint
from lakeward.seeds.files import is_one_document, kind_of
from lakeward.session import Settings


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("t", "main.default.t"),
        ("s.t", "main.s.t"),
        ("c.s.t", "c.s.t"),
        ("`my-cat`.s.`a``b`", "my-cat.s.a`b"),
    ],
)
def test_a_name_has_one_two_or_three_parts(text: str, full: str) -> None:
    assert str(TableName.of(text, catalog="main", schema="default")) == full


@pytest.mark.parametrize("text", ["", "a.b.c.d", "a..b", "a.", "."])
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(SeedError, match="SEED_NAME_INVALID"):
        TableName.of(text, catalog="main", schema="default")


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.csv", "csv"), ("a.csv.gz", "csv"), ("a.jsonl", "json"), ("a.parquet", "parquet"), ("a.sql", "ddl")],
)
def test_the_ending_tells_the_kind(tmp_path: Path, name: str, kind: str) -> None:
    (tmp_path / name).touch()
    assert kind_of(tmp_path / name) == kind


def test_a_folder_is_a_delta_table_or_holds_files_of_one_kind(tmp_path: Path) -> None:
    (tmp_path / "delta/_delta_log").mkdir(parents=True)
    (tmp_path / "parts").mkdir()
    for name in ("part-0.json", "part-1.json", "_SUCCESS", ".part-0.json.crc"):
        (tmp_path / "parts" / name).touch()
    assert (kind_of(tmp_path / "delta"), kind_of(tmp_path / "parts")) == ("delta", "json")
    (tmp_path / "parts/a.csv").touch()
    with pytest.raises(SeedError, match="several kinds: csv, json"):
        kind_of(tmp_path / "parts")
    (tmp_path / "empty").mkdir()
    for path, said in (("empty", "no file of a known kind"), ("a.xlsx", "does not exist")):
        with pytest.raises(SeedError, match=said):
            kind_of(tmp_path / path)


@pytest.mark.parametrize(
    ("text", "one"),
    [('{"a": 1}\n{"a": 2}\n', False), ('[{"a": 1}]', True), ('{\n  "a": 1\n}\n', True), ("", False)],
)
def test_json_is_a_line_a_row_or_one_document(tmp_path: Path, text: str, one: bool) -> None:
    (tmp_path / "a.json").write_text(text)
    with gzip.open(tmp_path / "b.json.gz", "wt") as file:
        file.write(text)
    assert is_one_document(tmp_path / "a.json") == is_one_document(tmp_path / "b.json.gz") == one


def test_the_project_declares_seeds_next_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[tool.lakeward.seeds]\n"
        '"c.s.quoted" = "seeds/a.csv"\n'
        'c.s.plain = "b.json"\n'
        'bare = {from = "c.csv", ddl = "c.sql"}\n'
    )
    declared = declared_seeds(Settings.here(tmp_path, environ={}, catalog="cat", schema="sch"))
    assert {str(name): (seed.source, seed.ddl) for name, seed in declared.items()} == {
        "c.s.quoted": (tmp_path / "seeds/a.csv", None),
        "c.s.plain": (tmp_path / "b.json", None),
        "cat.sch.bare": (tmp_path / "c.csv", tmp_path / "c.sql"),
    }


@pytest.mark.parametrize("entry", ["[tool.lakeward]\nseeds = 3", "[tool.lakeward.seeds]\nt = 3"])
def test_a_declaration_without_a_file_is_refused(tmp_path: Path, entry: str) -> None:
    (tmp_path / "pyproject.toml").write_text(entry)
    with pytest.raises(SeedError, match=r"pyproject\.toml.*Write \"catalog\.schema\.table\" = \"FILE\""):
        declared_seeds(Settings.here(tmp_path, environ={}))


@pytest.mark.parametrize(
    "name", ["{…}.raw.orders", "${catalog}.raw.orders", "{{ env }}.raw.orders", "<you>.s.t"]
)
def test_a_name_with_a_placeholder_is_no_name_to_copy(name: str) -> None:
    assert name not in seed_hint(name)
    assert "at run time" in seed_hint(name)


def test_the_help_for_a_missing_table_names_every_way_with_the_table_filled_in() -> None:
    text = "[TABLE_OR_VIEW_NOT_FOUND] The table or view `a`.`b c` cannot be found. Verify …"
    assert missing_table(text) == ["a", "b c"]
    assert missing_table("[OTHER] The table or view `a` cannot be found") is None
    advice = seed_hint("c.s.t")
    for way in (
        "lakeward seed c.s.t --from FILE",
        '"c.s.t" = "FILE"` under [tool.lakeward.seeds]',
        'lakehouse.seed("c.s.t", rows)',
        "lakeward pull c.s.t --limit 1000",
    ):
        assert way in advice


def test_a_line_without_end_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_LONGEST_LINE", 1000)
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(b'{"a": "' + b"x" * 10_000 + b'"}\n'))
    # What is left of the line is no document of its own.
    assert is_one_document(tmp_path / "a.json.gz")
