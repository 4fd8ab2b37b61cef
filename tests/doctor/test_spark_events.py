"""The doctor names exactly the illness of each sick application, and nothing on its healthy twin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from lakeward.doctor import FINDINGS, Examination, examine_spark_events, spark_events
from lakeward.doctor.query_rules import RULES
from lakeward.doctor.spark_events import read_application
from tests.doctor.spark_applications import MB, SEEDS, Application


def examined(path: Path) -> Examination:
    examination = Examination()
    examine_spark_events(examination, path)
    return examination


def seeded(finding: str, path: Path, *, sick: bool) -> Path:
    app = Application()
    SEEDS[finding](app, sick=sick)
    return app.write(path)


def found(path: Path) -> list[str]:
    examination = examined(path)
    assert examination.unreadable == {}
    return [each.finding for each in examination.diagnoses]


def test_every_finding_on_queries_has_a_rule_and_a_seed() -> None:
    from lakeward.doctor.finding_table import _QUERIES

    declared = [each.id for each in _QUERIES]
    assert list(RULES) == declared
    assert list(SEEDS) == declared
    # Settings and edits of code are the user's.
    assert not [each for each in declared if FINDINGS[each].safe]


@pytest.mark.parametrize("finding", SEEDS)
def test_a_sick_application_has_its_illness_alone(finding: str, tmp_path: Path) -> None:
    assert found(seeded(finding, tmp_path / "local-1", sick=True)) == [finding]


@pytest.mark.parametrize("finding", SEEDS)
def test_its_twin_is_healthy(finding: str, tmp_path: Path) -> None:
    assert found(seeded(finding, tmp_path / "local-1", sick=False)) == []


def test_evidence_fix_and_gain_are_in_figures(tmp_path: Path) -> None:
    (diagnosis,) = examined(seeded("data-skew", tmp_path / "local-1", sick=True)).diagnoses
    assert diagnosis.subject == "query 0 (save at job.py:3), stage 0"
    assert dict(diagnosis.evidence) == {
        "tasks": 4, "median_bytes": 4 * MB, "largest_bytes": 21 * MB, "input_bytes": 33 * MB,
    }  # fmt: skip
    assert diagnosis.gain == "The largest task reads about 4.0 MB instead of 21.0 MB."
    (diagnosis,) = examined(seeded("shuffle-partitions", tmp_path / "local-2", sick=True)).diagnoses
    assert diagnosis.fix[1] == "spark.sql.shuffle.partitions = 1"


def test_a_row_udf_without_arrow_is_found_too(tmp_path: Path) -> None:
    application = Application()
    application.query(
        application.node("Project", application.node("BatchEvalPython", number_of_output_rows=100_000))
    )
    assert found(application.write(tmp_path / "app-1")) == ["row-udf"]


def test_failed_tasks_and_plans_of_the_start_do_not_count(tmp_path: Path) -> None:
    app = Application()
    data_skew = SEEDS["data-skew"]
    data_skew(app, sick=False)
    app.task(0, read=500 * MB, failed=True)
    assert found(app.write(tmp_path / "local-1")) == []


@pytest.mark.parametrize("suffix", ["", ".zstd", ".gz", ".inprogress", ".zstd.inprogress"])
def test_rolled_and_compressed_files_are_one_application(suffix: str, tmp_path: Path) -> None:
    plain = seeded("missed-broadcast", tmp_path / "plain", sick=True)
    folder = tmp_path / "logs" / "eventlog_v2_local-1"
    folder.mkdir(parents=True)
    (folder / "appstatus_local-1").touch()
    lines = plain.read_bytes().splitlines(keepends=True)
    codec = {"zstd": "zstd", "gz": "gzip"}.get(suffix.removesuffix(".inprogress").removeprefix("."))
    for number, part in enumerate((lines[:3], lines[3:]), 1):
        with pa.output_stream(str(folder / f"events_{number}_local-1{suffix}"), compression=codec) as out:
            out.write(b"".join(part))
    assert found(tmp_path / "logs") == ["missed-broadcast"]


def test_the_lines_of_a_killed_application_are_read_up_to_its_end(tmp_path: Path) -> None:
    file = seeded("missed-broadcast", tmp_path / "local-1", sick=True)
    file.write_bytes(file.read_bytes() + b'{"Event":"SparkListenerTaskEnd","Stage')
    assert found(file) == ["missed-broadcast"]
    assert read_application(file).damaged_lines == 1


def test_a_few_late_rows_are_no_finding_whatever_their_share(tmp_path: Path) -> None:
    app = Application()
    app.batch("orders", rows=100, total=10, removed=1, late=99)
    assert found(app.write(tmp_path / "local-1")) == []


def test_more_damaged_lines_are_reported_with_what_was_found(tmp_path: Path) -> None:
    file = seeded("missed-broadcast", tmp_path / "local-1", sick=True)
    file.write_bytes(file.read_bytes() + b"{cut\n{cut\n")
    examination = examined(file)
    assert [each.finding for each in examination.diagnoses] == ["missed-broadcast"]
    assert "2 lines" in examination.unreadable["Spark events local-1"]


def test_a_cut_zstd_file_gives_what_it_holds(tmp_path: Path) -> None:
    app = Application()
    SEEDS["missed-broadcast"](app, sick=True)
    for _ in range(3000):
        app.events.append({"Event": "SparkListenerStageSubmitted", "text": "x" * 50})
    plain = app.write(tmp_path / "plain")
    whole = tmp_path / "local-1.zstd"
    with pa.output_stream(str(whole), compression="zstd") as out:
        out.write(plain.read_bytes())
    whole.write_bytes(whole.read_bytes()[:-20])
    examination = examined(whole)
    assert examination.diagnoses or examination.unreadable


@pytest.mark.parametrize(
    ("name", "content", "condition"),
    [
        ("nothing.txt", None, "SPARK_EVENTS_NOT_FOUND"),
        ("local-1.lz4", b"LZ4Block", "SPARK_EVENTS_UNREADABLE"),
        ("local-1.zstd", b"no zstd at all", "SPARK_EVENTS_UNREADABLE"),
        ("local-1", b"", "SPARK_EVENTS_UNREADABLE"),
    ],
)
def test_what_cannot_be_read_is_named(
    name: str, content: bytes | None, condition: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    examination = examined(tmp_path / name)
    (reason,) = examination.unreadable.values()
    assert reason.startswith(f"[{condition}]")
    assert str(tmp_path) not in reason


@pytest.mark.parametrize(
    "line", ["5", "[]", "{}", '{"Event": 7}', '{"Event": "SparkListenerTaskEnd"}', "null"]
)
def test_events_of_another_shape_are_skipped(line: str, tmp_path: Path) -> None:
    file = seeded("missed-broadcast", tmp_path / "local-1", sick=True)
    file.write_text(f"{line}\n{file.read_text()}")
    assert found(file) == ["missed-broadcast"]


_OTHER_TYPES = (5, "x", [5], {"x": 5}, ["x"], [[]], [{"numRowsTotal": "x", "name": [], "accumulatorId": {}}])


@pytest.mark.parametrize("value", _OTHER_TYPES)
@pytest.mark.parametrize("field", ["stateOperators", "sources", "name", "children", "metrics", "metadata"])
def test_values_of_other_types_are_skipped(field: str, value: Any, tmp_path: Path) -> None:
    app = Application()
    SEEDS["missed-broadcast"](app, sick=True)
    app.batch("orders", rows=100, total=10, removed=1, late=0)
    app.query(app.node("SortMergeJoin", app.node("Exchange", data_size=5), app.node("Exchange", data_size=6)))
    app.events[-1]["description"] = value
    for event in list(app.events):
        if "QueryProgress" in event["Event"]:
            damaged = {**event, "progress": {**_decoded(event["progress"]), field: value}}
        elif "sparkPlanInfo" in event:
            damaged = {**event, "executionId": 99, "sparkPlanInfo": {**event["sparkPlanInfo"], field: value}}
        else:
            continue
        app.events.append(damaged)
    examination = examined(app.write(tmp_path / "local-1"))
    assert "missed-broadcast" in {each.finding for each in examination.diagnoses}


def _decoded(progress: Any) -> dict[str, Any]:
    return dict(json.loads(progress) if isinstance(progress, str) else progress)


@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_line_without_end_is_skipped(end: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_events, "_LONGEST_LINE", 2**21)
    lines = seeded("missed-broadcast", tmp_path / "plain", sick=True).read_bytes()
    long = b'{"Event": "%s"}' % (b"x" * 3 * 2**20)
    file = tmp_path / "local-1.gz"
    with pa.output_stream(str(file), compression="gzip") as out:
        out.write(long + b"\n" + lines + long + end)
    assert read_application(file).damaged_lines == 2
    assert found_besides_damage(file) == ["missed-broadcast"]


def found_besides_damage(path: Path) -> list[str]:
    return [each.finding for each in examined(path).diagnoses]
