"""The doctor names exactly the illness of each sick table, and nothing on its healthy twin."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lakeward.delta_log import read_table
from lakeward.doctor import FINDINGS, Examination, examine_table
from lakeward.doctor.table_rules import RULES
from tests.doctor.delta_tables import DAY, MB, NOW, SEEDS, DeltaTable


def examined(folder: Path, *name: str) -> Examination:
    examination = Examination()
    examine_table(examination, folder, name, now=NOW)
    return examination


def found(folder: Path) -> list[str]:
    examination = examined(folder)
    assert examination.unreadable == {}
    return [each.finding for each in examination.diagnoses]


def test_every_finding_on_tables_has_a_rule_and_a_seed() -> None:
    declared = [each.id for each in FINDINGS.values() if each.area == "table"]
    assert list(RULES) == declared
    assert list(SEEDS) == declared


@pytest.mark.parametrize("finding", SEEDS)
def test_a_sick_table_has_its_illness_alone(finding: str, tmp_path: Path) -> None:
    SEEDS[finding](tmp_path / "t", sick=True)
    assert found(tmp_path / "t") == [finding]


@pytest.mark.parametrize("finding", SEEDS)
def test_its_twin_is_healthy(finding: str, tmp_path: Path) -> None:
    SEEDS[finding](tmp_path / "t", sick=False)
    assert found(tmp_path / "t") == []


# The other two concern the files of the log themselves.
@pytest.mark.parametrize(
    "finding", [each for each in SEEDS if each not in ("checkpoint-overdue", "log-cleanup-off")]
)
def test_a_checkpoint_in_parts_says_the_same_as_the_commits(finding: str, tmp_path: Path) -> None:
    SEEDS[finding](tmp_path / "t", sick=True)
    before = examined(tmp_path / "t").as_json()
    log = tmp_path / "t" / "_delta_log"
    commits = sorted(log.glob("*.json"))
    actions = [json.loads(line) for file in commits for line in file.read_text().splitlines()]
    removed = {each["remove"]["path"] for each in actions if "remove" in each}
    kept = [each for each in actions if each.get("add", {}).get("path") not in removed]
    table = object.__new__(DeltaTable)
    table.folder, table.version = tmp_path / "t", len(commits) - 1
    table.checkpoint(kept, parts=3)
    for file in commits:
        file.unlink()
    assert examined(tmp_path / "t").as_json() == before


def test_evidence_fix_and_gain_are_in_figures(tmp_path: Path) -> None:
    SEEDS["small-files"](tmp_path / "t", sick=True)
    (diagnosis,) = examined(tmp_path / "t", "main", "sales", "o`rders").diagnoses
    assert dict(diagnosis.evidence) == {"files": 52, "small_files": 51, "mean_bytes": MB, "files_after": 2}
    assert diagnosis.fix == ("OPTIMIZE `main`.`sales`.`o``rders`",)
    assert diagnosis.gain == "Files that a full read opens: 2 instead of 52."
    assert diagnosis.statements == diagnosis.fix
    assert diagnosis.shown()["mean_bytes"] == "1.0 MB"


def test_fixes_that_lose_history_rows_or_skipping_are_not_safe() -> None:
    unsafe = {each.id for each in FINDINGS.values() if not each.safe}
    assert {"vacuum-debt", "log-cleanup-off", "over-partitioned", "statistics-too-wide"} <= unsafe
    for each in FINDINGS.values():
        if each.safe:
            assert not any(
                word in text for text in each.fix for word in ("VACUUM", "REPLACE", "DELETE", "DROP")
            )


@pytest.mark.parametrize("kind", ["streaming_table", "materialized_view"])
@pytest.mark.parametrize("finding", SEEDS)
def test_fixes_of_datasets_are_edits_where_no_statement_can_change_them(
    finding: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    SEEDS[finding](tmp_path / "table", sick=True)
    create = DeltaTable.__post_init__

    def create_dataset(table: DeltaTable) -> None:
        table.configuration = {**table.configuration, "lakeward.kind": kind}
        create(table)

    monkeypatch.setattr(DeltaTable, "__post_init__", create_dataset)
    SEEDS[finding](tmp_path / "dataset", sick=True)
    (before,) = examined(tmp_path / "table", "main", "sales", "orders").diagnoses
    (diagnosis,) = examined(tmp_path / "dataset", "main", "sales", "orders").diagnoses
    if any(text.startswith(("ALTER", "CREATE")) for text in before.fix):
        assert [text[:38] for text in diagnosis.fix] == ["In the definition of main.sales.orders"]
        assert diagnosis.statements == ()
    else:
        assert (diagnosis.fix, diagnosis.statements) == (before.fix, before.statements)


def test_log_files_that_cleanup_keeps_are_not_expired(tmp_path: Path) -> None:
    """Delta deletes the files before a checkpoint together: one within the retention keeps all of them."""
    log = tmp_path / "t" / "_delta_log"
    table = DeltaTable(tmp_path / "t", {"delta.enableExpiredLogCleanup": "false"})
    meta = json.loads((log / f"{0:020}.json").read_text().splitlines()[1])
    files = [table.add() for _ in range(300)]
    for number, each in enumerate(files):
        table.commit(each, age_days=40)
        if number in (219, 299):
            table.checkpoint([meta, *files[: number + 1]])

    def aged(days: int, *names: str) -> list[Any]:
        for name in names:
            os.utime(log / name, (NOW - days * DAY,) * 2)
        return [dict(each.evidence)["expired_log_files"] for each in examined(tmp_path / "t").diagnoses
                if each.finding == "log-cleanup-off"]  # fmt: skip

    first, second = (f"{version:020}.checkpoint.parquet" for version in (220, 300))
    assert aged(40, f"{0:020}.json", first, second) == [301]
    assert aged(2, f"{299:020}.json") == [220]
    assert aged(2, f"{100:020}.json") == []


def test_statistics_that_a_property_switches_off_are_switched_on_first(tmp_path: Path) -> None:
    table = DeltaTable(tmp_path / "t", {"delta.dataSkippingNumIndexedCols": "0"})
    table.commit(*(table.add(stats={}) for _ in range(10)))
    (diagnosis,) = examined(tmp_path / "t", "a", "b", "c").diagnoses
    assert diagnosis.fix == (
        "ALTER TABLE `a`.`b`.`c` UNSET TBLPROPERTIES ('delta.dataSkippingNumIndexedCols')",
        "ANALYZE TABLE `a`.`b`.`c` COMPUTE DELTA STATISTICS",
    )


@pytest.mark.parametrize("overlap", [True, False])
def test_columns_of_a_table_with_column_mapping_have_their_logical_names(
    overlap: bool, tmp_path: Path
) -> None:
    table = DeltaTable(tmp_path / "t", clustering=("col-1",))
    column = {"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "col-1"}
    fields = [{"name": "order id", "type": "long", "nullable": True, "metadata": column}]
    metadata = {"id": "1", "schemaString": json.dumps({"type": "struct", "fields": fields})}
    metadata |= {"partitionColumns": [], "configuration": {"delta.columnMapping.mode": "name"}}
    ranges = [(0, 1000) if overlap else (number * 10, number * 10 + 9) for number in range(50)]
    files = [
        table.add(stats={"minValues": {"col-1": low}, "maxValues": {"col-1": high}}) for low, high in ranges
    ]
    table.commit({"metaData": metadata}, *files)
    diagnoses = examined(tmp_path / "t", "a", "b", "c").diagnoses
    assert [each.finding for each in diagnoses] == (["clustering-debt"] if overlap else [])
    if overlap:
        assert diagnoses[0].evidence["column"] == "order id"


def test_a_table_without_columns_that_can_be_skipped_needs_no_statistics(tmp_path: Path) -> None:
    table = DeltaTable(tmp_path / "t", columns=[("flag", "boolean"), ("data", "binary")])
    table.commit(*(table.add(stats=None) for _ in range(30)))
    assert found(tmp_path / "t") == []


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("interval 7 days", 7), ("interval 1 week", 7), ("INTERVAL 36 HOURS", 1.5), ("2 days 12 hours", 2.5),
        ("interval 0 seconds", 0), ("", 7), ("nonsense", 7),
    ],
)  # fmt: skip
def test_intervals(text: str, days: float, tmp_path: Path) -> None:
    from lakeward.doctor.table_rules import _days

    table = DeltaTable(tmp_path / "t", {"p": text} if text else {})
    table.commit(table.add())
    assert _days(read_table(tmp_path / "t"), "p", 7) == days


# --- bad input


def cut_commit(table: DeltaTable) -> None:
    file = table.folder / "_delta_log" / f"{1:020}.json"
    file.write_text(file.read_text()[:-40])


def lost_commit(table: DeltaTable) -> None:
    (table.folder / "_delta_log" / f"{1:020}.json").unlink()


def no_object(table: DeltaTable) -> None:
    (table.folder / "_delta_log" / f"{1:020}.json").write_text("[1]\n")


def binary_commit(table: DeltaTable) -> None:
    (table.folder / "_delta_log" / f"{1:020}.json").write_bytes(b"\xff\x00\xfe")


def cut_checkpoint(table: DeltaTable) -> None:
    (table.folder / "_delta_log" / f"{2:020}.checkpoint.parquet").write_bytes(b"PAR1 nothing")


def wrong_statistics(table: DeltaTable) -> None:
    file = table.folder / "_delta_log" / f"{2:020}.json"
    action = table.add()
    action["add"]["stats"] = "{cut"
    file.write_text(json.dumps(action))


def no_columns(table: DeltaTable) -> None:
    file = table.folder / "_delta_log" / f"{2:020}.json"
    file.write_text(json.dumps({"metaData": {"schemaString": "[]", "configuration": {}}}))


def not_an_object(table: DeltaTable) -> None:
    (table.folder / "_delta_log" / f"{2:020}.json").write_text('{"add": 5}')


DAMAGE: dict[Callable[[DeltaTable], None], str] = {
    cut_commit: "DELTA_LOG_UNREADABLE",
    lost_commit: "DELTA_LOG_INCOMPLETE",
    no_object: "DELTA_LOG_UNREADABLE",
    binary_commit: "DELTA_LOG_UNREADABLE",
    cut_checkpoint: "DELTA_LOG_UNREADABLE",
    wrong_statistics: "DELTA_LOG_UNREADABLE",
    no_columns: "DELTA_LOG_UNREADABLE",
    not_an_object: "DELTA_LOG_UNREADABLE",
}


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_a_damaged_log_is_named_and_the_next_table_examined(
    damage: Callable[[DeltaTable], None], tmp_path: Path
) -> None:
    table = DeltaTable(tmp_path / "bad")
    for _ in range(2):
        table.commit(table.add())
    damage(table)
    SEEDS["small-files"](tmp_path / "good", sick=True)
    examination = Examination()
    examine_table(examination, tmp_path / "bad", ("a", "b", "bad"), now=NOW)
    examine_table(examination, tmp_path / "good", ("a", "b", "good"), now=NOW)
    assert list(examination.unreadable) == ["a.b.bad"]
    assert examination.unreadable["a.b.bad"].startswith(f"[{DAMAGE[damage]}]")
    assert str(tmp_path) not in examination.unreadable["a.b.bad"]
    assert [each.subject for each in examination.diagnoses] == ["a.b.good"]
    assert not examination.is_healthy


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_table_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    table = DeltaTable(tmp_path / "t")
    (table.folder / "_delta_log").chmod(0)
    assert "Permission denied" in examined(tmp_path / "t").unreadable[str(tmp_path / "t")]


def test_a_log_that_the_system_refuses_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    DeltaTable(tmp_path / "t")

    def refuse(path: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", refuse)
    (reason,) = examined(tmp_path / "t").unreadable.values()
    assert "Permission denied" in reason


def test_a_folder_without_a_log_is_no_table(tmp_path: Path) -> None:
    (reason,) = examined(tmp_path).unreadable.values()
    assert reason.startswith("[DELTA_TABLE_NOT_FOUND]")


def test_partitions_of_hidden_columns_and_escaped_paths_are_live(tmp_path: Path) -> None:
    table = DeltaTable(tmp_path / "t", partition_columns=("_p",))
    actions = []
    for number in range(30):
        action = table.add(100, partition={"_p": f"a b{number}"})
        path = action["add"]["path"]
        table.put(path, age_days=100, size=100)
        action["add"]["path"] = path.replace(" ", "%20")
        actions.append(action)
    table.commit(*actions)
    for hidden in ("_delta_index/x.parquet", "_change_data/y.parquet", ".z.parquet"):
        for number in range(30):
            table.put(hidden.replace(".parquet", f"{number}.parquet"), age_days=100, size=10_000)
    assert found(tmp_path / "t") == []


def test_only_the_newest_whole_checkpoint_counts(tmp_path: Path) -> None:
    table = DeltaTable(tmp_path / "t")
    meta = json.loads((table.folder / "_delta_log" / f"{0:020}.json").read_text().splitlines()[1])
    first = table.add()
    table.commit(first)
    table.checkpoint([meta, first])
    table.commit(table.add())
    # One of two parts was written before the writer was killed.
    table.checkpoint([meta, first], parts=2)
    (table.folder / "_delta_log" / f"{2:020}.checkpoint.{2:010}.{2:010}.parquet").unlink()
    state = read_table(tmp_path / "t")
    assert (state.checkpoint, state.version, len(state.files)) == (1, 2, 2)


def test_a_file_that_gets_a_deletion_vector_stays_one_file(tmp_path: Path) -> None:
    table = DeltaTable(tmp_path / "t")
    plain = table.add(rows=100)
    table.commit(plain)
    marked = json.loads(json.dumps(plain))
    marked["add"]["deletionVector"] = {"pathOrInlineDv": "x", "offset": 1, "cardinality": 7}
    remove = {"remove": {"path": plain["add"]["path"], "deletionTimestamp": int((NOW - DAY) * 1000)}}
    table.commit(marked, remove)
    (file,) = read_table(tmp_path / "t").files
    assert (file.rows, file.deleted_rows) == (100, 7)
