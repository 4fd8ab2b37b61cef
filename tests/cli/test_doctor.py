"""`lakeward doctor`: subjects, output, exit codes, fixes; nothing starts Spark but `--apply`."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from lakeward.doctor import FINDINGS, pipeline_rules
from tests.cli.inside import Inside
from tests.doctor.delta_tables import SEEDS, DeltaTable
from tests.doctor.spark_applications import SEEDS as APPLICATIONS
from tests.doctor.spark_applications import Application


@pytest.fixture
def warehouse(without_spark: Inside) -> Path:
    """Two tables, of which one is sick."""
    folder = without_spark.folder / ".lakeward" / "local" / "warehouse" / "main"
    SEEDS["small-files"](folder / "sales" / "orders", sick=True)
    SEEDS["small-files"](folder / "sales" / "customers", sick=False)
    return folder


def test_all_tables_are_examined_and_the_exit_code_is_one(warehouse: Path, without_spark: Inside) -> None:
    ran = without_spark("doctor")
    assert ran.returncode == 1
    lines = ran.stdout.splitlines()
    assert lines[0] == "main.sales.orders: many small files [small-files]"
    assert lines[1] == "    files 52, small files 51, mean bytes 1.0 MB, files after 2"
    assert lines[3] == "  → OPTIMIZE `main`.`sales`.`orders`"
    assert lines[4:] == ["1 finding in 2 tables and pipelines; `--apply` fixes 1 of them"]


@pytest.mark.parametrize(
    ("subject", "code"),
    [("customers", 0), ("sales.customers", 0), ("MAIN.Sales.ORDERS", 1), ("`main`.`sales`.`orders`", 1)],
)
def test_a_table_is_named_with_as_many_parts_as_one_likes(
    subject: str, code: int, warehouse: Path, without_spark: Inside
) -> None:
    ran = without_spark("doctor", subject)
    assert ran.returncode == code
    name = "main.sales.orders" if code else "main.sales.customers"
    assert re.search(rf"findings? in {name}(;|$)", ran.stdout, re.MULTILINE)


def test_a_folder_is_examined_where_it_is(without_spark: Inside) -> None:
    SEEDS["short-retention"](without_spark.folder / "some where" / "t", sick=True)
    ran = without_spark("doctor", "some where/t", "--json")
    assert ran.returncode == 1
    (finding,) = ran.document["findings"]
    assert finding["finding"] == "short-retention"
    assert finding["title"] == FINDINGS["short-retention"].title
    assert finding["evidence"] == {"deleted_file_days": 6.958, "log_days": 30}
    table = f"delta.`{without_spark.folder}/some where/t`"
    assert finding["fix"] == [
        f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 7 days')"
    ]
    assert finding["safe"] is True


def test_an_unknown_subject_is_wrong_usage_with_a_near_miss(warehouse: Path, without_spark: Inside) -> None:
    ran = without_spark("doctor", "oders")
    assert ran.returncode == 2
    assert "SUBJECT_NOT_FOUND" in ran.stderr
    assert "Did you mean `orders`?" in ran.stderr


def test_a_pipeline_is_examined_with_the_tables_that_it_writes(
    warehouse: Path, without_spark: Inside
) -> None:
    storage = without_spark.folder / ".lakeward" / "local" / "pipelines" / "nightly"
    storage.mkdir(parents=True)
    event = {
        "id": "1", "timestamp": "2026-01-01T00:00:00+00:00", "event_type": "dataset_definition",
        "origin": {"update_id": "u", "dataset_name": "main.sales.Orders"}, "details": {},
    }  # fmt: skip
    (storage / "events.jsonl").write_text(json.dumps(event))
    ran = without_spark("doctor", "nightly", "--json")
    assert ran.document["subjects"] == ["main.sales.orders", "pipeline nightly"]


def test_a_run_is_examined_as_the_pipelines_that_it_updated(warehouse: Path, without_spark: Inside) -> None:
    state = without_spark.folder / ".lakeward" / "local"
    event = {
        "id": "1", "timestamp": "2026-01-01T00:00:00+00:00", "event_type": "dataset_definition",
        "origin": {"update_id": "u", "dataset_name": "main.sales.Orders"}, "details": {},
    }  # fmt: skip
    for name in ("nightly", "other"):
        (state / "pipelines" / name).mkdir(parents=True)
        (state / "pipelines" / name / "events.jsonl").write_text(json.dumps(event))
    run = state / "jobs" / "daily" / "runs" / "4711"
    run.mkdir(parents=True)
    records = [{"task_key": "refresh", "pipeline": "nightly"}, {"task_key": "check"}]
    (run / "run.json").write_text(json.dumps({"tasks": [], "records": records}))
    ran = without_spark("doctor", "4711", "--json")
    assert ran.document["subjects"] == ["main.sales.orders", "pipeline nightly"]


def test_the_event_log_of_a_pipeline_is_read_once(
    warehouse: Path, without_spark: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = without_spark.folder / ".lakeward" / "local" / "pipelines" / "nightly"
    storage.mkdir(parents=True)
    (storage / "events.jsonl").touch()
    read = pipeline_rules.read_events
    calls: list[Path] = []
    monkeypatch.setattr(
        pipeline_rules, "read_events", lambda *given: (calls.append(given[0]), read(*given))[1]
    )
    without_spark("doctor", "nightly")
    assert [each.name for each in calls] == ["nightly"]


def test_a_table_with_a_location_is_examined_by_its_name(warehouse: Path, without_spark: Inside) -> None:
    folder = without_spark.folder / "else where" / "t"
    SEEDS["small-files"](folder, sick=True)
    objects = warehouse / "sales" / ".objects"
    objects.mkdir()
    location = f"file:{folder}".replace(" ", "%20")
    (objects / "outside.table.json").write_text(json.dumps({"type": "EXTERNAL", "location": location}))
    (objects / "remote.table.json").write_text(json.dumps({"type": "EXTERNAL", "location": "s3://bucket/t"}))
    (objects / "damaged.table.json").write_text("{")
    ran = without_spark("doctor", "outside", "--json")
    assert ran.document["subjects"] == ["main.sales.outside"]
    assert ran.document["findings"][0]["fix"] == ["OPTIMIZE `main`.`sales`.`outside`"]
    assert without_spark("doctor", "--json").document["subjects"] == [
        "main.sales.customers", "main.sales.orders", "main.sales.outside",
    ]  # fmt: skip


def test_a_damaged_table_is_named_and_fails_the_command(warehouse: Path, without_spark: Inside) -> None:
    (warehouse / "sales" / "orders" / "_delta_log" / f"{1:020}.json").write_text("{")
    ran = without_spark("doctor")
    assert ran.returncode == 1
    assert "main.sales.orders: not examined\n    [DELTA_LOG_UNREADABLE]" in ran.stdout


def test_names_cannot_steer_the_terminal_and_are_quoted_in_fixes(without_spark: Inside) -> None:
    name = "a`b \x1b[31m<script>\n€"
    folder = without_spark.folder / ".lakeward" / "local" / "warehouse" / "main" / "default" / name
    SEEDS["small-files"](folder, sick=True)
    ran = without_spark("doctor")
    assert "\x1b" not in ran.stdout
    assert ran.stdout.splitlines()[0].startswith(r"main.default.a`b \x1b[31m<script>\n€: many")
    fix = without_spark("doctor", "--json").document["findings"][0]["fix"][0]
    assert fix == f"OPTIMIZE `main`.`default`.`{name.replace('`', '``')}`"


def test_outside_of_everything_nothing_is_found(without_spark: Inside) -> None:
    ran = without_spark("doctor")
    assert (ran.returncode, ran.stdout) == (
        0,
        "Nothing to examine: there is no table and no pipeline that has run.\n",
    )
    assert not (without_spark.folder / ".lakeward").exists()


def test_private_tables_and_folders_of_lakeward_are_no_subjects(
    warehouse: Path, without_spark: Inside
) -> None:
    DeltaTable(warehouse / "sales" / "__private_0_x")
    DeltaTable(warehouse / "sales" / ".objects")
    assert without_spark("doctor", "--json").document["subjects"] == [
        "main.sales.customers",
        "main.sales.orders",
    ]


def test_apply_runs_safe_fixes_alone_and_examines_again(inside: Inside) -> None:
    folder = inside.folder / ".lakeward" / "local" / "warehouse" / "main" / "default"
    setting = "TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 1 day')"
    assert (
        inside("sql", "-e", f"create table short (id int) {setting}; insert into short values (1)").returncode
        == 0
    )
    # An expired file: VACUUM would fix it, but deletes.
    for number in range(20):
        file = folder / "short" / f"part-{number}.parquet"
        file.write_bytes(b"x" * 10_000)
        os.utime(file, (1_000_000_000, 1_000_000_000))
    before = inside("doctor", "short", "--json").document
    assert [each["finding"] for each in before["findings"]] == ["vacuum-debt", "short-retention"]
    ran = inside("doctor", "short", "--apply", "--json")
    assert ran.returncode == 1
    assert [each["statement"].partition(" SET")[0] for each in ran.document["applied"]] == [
        "ALTER TABLE `main`.`default`.`short`"
    ]
    assert [each["finding"] for each in ran.document["findings"]] == ["vacuum-debt"]
    assert len(list((folder / "short").glob("part-?.parquet"))) == 10


def test_an_event_log_of_spark_is_examined_alone(warehouse: Path, without_spark: Inside) -> None:
    app = Application()
    APPLICATIONS["row-udf"](app, sick=True)
    app.write(without_spark.folder / "logs" / "local-1")
    ran = without_spark("doctor", "--spark-events", "logs")
    assert ran.returncode == 1
    assert (
        ran.stdout.splitlines()[0]
        == "query 0 (save at job.py:3): a Python function is called row by row [row-udf]"
    )
    for wrong in (("orders",), ("--apply",)):
        ran = without_spark("doctor", *wrong, "--spark-events", "logs")
        assert ran.returncode == 2
        assert "--spark-events" in ran.stderr
