"""The report of a pipeline: what it holds, of which files, and what it makes of damaged ones."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from lakeward.cli.report import report as report_command
from lakeward.report import build_report, page_document, write_page
from lakeward.report.pipeline_report import MAX_UPDATES
from tests.report.events import Events

QUALITY = {
    "data_quality": {
        "dropped_records": 2,
        "expectations": [{"name": "positive", "passed_records": 8, "failed_records": 2}],
    }
}


def built(storage: Path) -> dict[str, Any]:
    document = build_report("p", storage)
    assert document is not None
    return document


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    Events("u1").define("c.s.a").refresh("c.s.a", 5).end().store(tmp_path)
    second = Events("u2", day=1).define("c.s.a").define("c.s.b", "c.s.a")
    second.refresh("c.s.a", 8, **QUALITY).refresh("c.s.b", 0, "FAILED").end("FAILED").store(tmp_path)
    return tmp_path


def test_updates_are_new_to_old_with_the_results_of_their_datasets(storage: Path) -> None:
    newest, older = built(storage)["updates"]
    assert (newest["id"], newest["state"], older["id"], older["state"]) == ("u2", "FAILED", "u1", "COMPLETED")
    a, b = newest["datasets"]["c.s.a"], newest["datasets"]["c.s.b"]
    assert (a["state"], a["rows"], a["dropped"], a["seconds"]) == ("COMPLETED", 8, 2, 2.0)
    assert a["expectations"] == [{"name": "positive", "passed": 8, "failed": 2}]
    assert (b["state"], b["rows"], b["error"]) == ("FAILED", None, "[BAD] no")
    assert older["datasets"]["c.s.a"]["rows"] == 5


def test_datasets_have_their_inputs(storage: Path) -> None:
    a, b = built(storage)["datasets"]
    assert (a["flows"][0]["inputs"], b["flows"][0]["inputs"]) == ([], ["c.s.a"])


def test_inputs_that_code_names_by_one_part_are_edges_of_the_graph(tmp_path: Path) -> None:
    events = Events("u").define("c.s.raw").define("c.s.silver", "raw").define("c.s.gold", "S.Silver", "x.raw")
    events.refresh("c.s.raw", 1).end().store(tmp_path)
    inputs = [each["flows"][0]["inputs"] for each in built(tmp_path)["datasets"]]
    assert inputs == [[], ["c.s.raw"], ["c.s.silver", "x.raw"]]


def test_a_view_of_an_update_that_has_ended_is_not_queued(tmp_path: Path) -> None:
    events = (
        Events("u").define("c.s.v").define("c.s.t", "v").add("flow_progress", {"status": "QUEUED"}, "c.s.v")
    )
    (tmp_path / "events.jsonl").write_text(events.refresh("c.s.t", 1).lines())
    assert built(tmp_path)["updates"][0]["datasets"]["c.s.v"]["state"] == "QUEUED"
    (tmp_path / "events.jsonl").write_text(events.end().lines())
    assert list(built(tmp_path)["updates"][0]["datasets"]) == ["c.s.t"]


def test_an_input_with_two_meanings_stays_as_it_is_written(tmp_path: Path) -> None:
    Events("u").define("c.a.t").define("c.b.t").define("c.b.u", "t").end().store(tmp_path)
    assert built(tmp_path)["datasets"][2]["flows"][0]["inputs"] == ["t"]


def test_flows_of_one_dataset_are_added_up_and_a_failed_one_fails_it(tmp_path: Path) -> None:
    events = Events("u").refresh("t", 3).refresh("t", 4).refresh("t", 0, "FAILED").refresh("t", 5)
    events.end("FAILED").store(tmp_path)
    result = built(tmp_path)["updates"][0]["datasets"]["t"]
    assert (result["rows"], result["state"]) == (12, "FAILED")


def test_the_technique_of_a_refresh_is_shown(tmp_path: Path) -> None:
    information = [
        {"maintenance_type": "MAINTENANCE_TYPE_COMPLETE_RECOMPUTE", "is_chosen": False},
        {"maintenance_type": "MAINTENANCE_TYPE_GROUP_AGGREGATE", "is_chosen": True},
    ]
    events = Events("u").add("planning_information", {"technique_information": information}, "t")
    events.refresh("t", 1).end().store(tmp_path)
    assert built(tmp_path)["updates"][0]["datasets"]["t"]["technique"] == "GROUP_AGGREGATE"


def test_an_update_without_an_end_is_unfinished_and_is_read_from_the_event_file(storage: Path) -> None:
    running = Events("u3", day=2).define("c.s.a").add("flow_progress", {"status": "RUNNING"}, "c.s.a")
    lines = running.lines()
    (storage / "events.jsonl").write_text(lines + lines.splitlines()[0][:40])  # the last line is cut off
    newest = built(storage)["updates"][0]
    assert (newest["id"], newest["state"]) == ("u3", "UNFINISHED")
    assert newest["datasets"]["c.s.a"]["state"] == "RUNNING"


def test_events_in_both_files_count_once(storage: Path) -> None:
    again = Events("u2", day=1).define("c.s.a").define("c.s.b", "c.s.a").refresh("c.s.a", 8, **QUALITY)
    (storage / "events.jsonl").write_text(again.lines())
    assert built(storage)["updates"][0]["datasets"]["c.s.a"]["rows"] == 8


def test_an_update_that_failed_before_its_graph_shows_the_graph_of_the_one_before(storage: Path) -> None:
    Events("u3", day=2).add("create_update", {"cause": "USER_ACTION"}).end("FAILED").store(storage)
    document = built(storage)
    assert document["updates"][0]["datasets"] == {}
    assert [each["name"] for each in document["datasets"]] == ["c.s.a", "c.s.b"]


def test_the_newest_updates_are_kept(tmp_path: Path) -> None:
    for day in range(MAX_UPDATES + 5):
        Events(f"u{day:03d}", day=day).refresh("t", day).end().store(tmp_path)
    updates = built(tmp_path)["updates"]
    assert [each["id"] for each in updates] == [f"u{day:03d}" for day in range(MAX_UPDATES + 4, 4, -1)]


@pytest.mark.parametrize("damage", [b"", b"PAR1", b"\x00" * 500])
def test_a_damaged_file_is_named_and_the_others_are_shown(storage: Path, damage: bytes) -> None:
    (storage / "event_log" / "part-00009.parquet").write_bytes(damage)
    (storage / "events.jsonl").write_bytes(b"\xff\xfe\x00")
    document = built(storage)
    assert document["updates"][0]["id"] == "u2"
    assert len(document["notes"]) == 2
    assert "part-00009.parquet" in document["notes"][0]


def test_a_pipeline_that_never_ran_has_no_report(tmp_path: Path) -> None:
    assert build_report("p", tmp_path) is None


@pytest.mark.parametrize(
    "name", ["</script><script>alert(1)</script>", "a & 'b' \"c\"", "💾\u2028", "x" * 5000, "\ud800", "<!--"]
)
def test_no_name_ends_the_data_of_the_page(tmp_path: Path, name: str) -> None:
    Events("u").define("t").refresh("t", 1).end().store(tmp_path)
    path = tmp_path / "page.html"
    write_page({**built(tmp_path), "pipeline": name}, path)
    text = path.read_text(encoding="utf-8")
    data = text.split('<script type="application/json" id="report">')[1].split("</script>")[0]
    assert json.loads(data)["pipeline"] == name.encode("utf-8", "replace").decode()
    assert text.count("<script") == 2


def test_a_large_pipeline_fits_in_a_megabyte(tmp_path: Path) -> None:
    names = [f"main.s.dataset_{number}" for number in range(200)]
    for day in range(15):
        events = Events(f"u{day}", day=day)
        for number, name in enumerate(names):
            events.define(name, *names[max(0, number - 3) : number]).refresh(name, number, **QUALITY)
        events.end().store(tmp_path)
    path = tmp_path / "page.html"
    document = built(tmp_path)
    write_page(page_document(document), path)
    assert path.stat().st_size < 500_000
    assert [len(each["points"]) for each in document["quality"]] == [15] * 200


def test_the_history_has_results_but_no_messages_and_graphs(tmp_path: Path) -> None:
    for day in range(3):
        events = Events(f"u{day}", day=day).add("user_action", {}).define("t").refresh("t", day, **QUALITY)
        events.end("FAILED" if day == 1 else "COMPLETED").store(tmp_path)
    document = page_document(built(tmp_path))
    assert [(each["rows"], each["state"]) for each in document["updates"]] == [
        (2, "COMPLETED"), (1, "FAILED"), (0, "COMPLETED")
    ]  # fmt: skip
    assert ["datasets" in each for each in document["updates"]] == [True, False, True]
    assert document["quality"] == [
        {"dataset": "t", "name": "positive", "points": [(i, 8, 2) for i in (2, 1, 0)]}
    ]
    assert "user_action" in {each["type"] for each in document["events"]}


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the pipelines of a project in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LAKEWARD_HOME", raising=False)
    return tmp_path / ".lakeward" / "local" / "pipelines"


def run(*arguments: str) -> Any:
    return CliRunner().invoke(report_command, arguments, standalone_mode=False)


def test_the_command_writes_one_page_for_each_pipeline(target: Path, tmp_path: Path) -> None:
    for name in ("daily", "MV-main.default.m"):
        Events("u").refresh("t", 1).end().store(target / name)
    (target / "never-ran").mkdir()
    written = run().output.split()
    assert [Path(each).name for each in written] == ["MV-main.default.m.html", "daily.html"]
    assert run("daily", "-o", "x.html").output.split() == ["x.html"]
    assert (tmp_path / "x.html").exists()


@pytest.mark.parametrize(("arguments", "says"), [((), "Nothing has run"), (("nope",), "`nope` has not run")])
def test_without_events_the_command_reports_it(target: Path, arguments: tuple[str, ...], says: str) -> None:
    error = run(*arguments).exception
    assert says in str(error)


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium on PATH shows the page")
def test_a_browser_shows_the_page_without_errors(storage: Path, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_page(page_document(built(storage)), path)
    ran = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", path.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    # The script's last function fills the table of events.
    assert "FAILED" in ran.stdout and "update_progress</td>" in ran.stdout
    assert ran.stdout.count('role="button"') == 2


WRONG: tuple[Any, ...] = (None, 5, "x", [], {}, [1], True, 1e308, {"a": 1}, [{}], [[]])


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of every value inside of `value`."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield (*at, key)
        yield from places(each, (*at, key))


@pytest.mark.slow
def test_no_value_of_an_event_prevents_the_report(tmp_path: Path) -> None:
    """Every value of every event, replaced by values of other types: the updates before are still shown."""
    Events("u0").define("c.s.a").refresh("c.s.a", 5).end().store(tmp_path)
    events = Events("u1", day=1).define("c.s.a").define("c.s.b", "c.s.a").refresh("c.s.a", 8, **QUALITY)
    events.add("stream_progress", {"progress": {"batchId": 1, "sources": [{}], "batchDuration": 5}}, "c.s.a")
    text = events.end().lines()
    lines = [json.loads(line) for line in text.splitlines()]
    tried = 0
    for *at, last in list(places(lines)):
        for wrong in WRONG:
            changed = json.loads(json.dumps(lines))
            holder = functools.reduce(lambda value, key: value[key], at, changed)
            holder[last] = wrong
            (tmp_path / "events.jsonl").write_text("".join(json.dumps(each) + "\n" for each in changed))
            assert "u0" in [each["id"] for each in built(tmp_path)["updates"]], (at, last, wrong)
            tried += 1
    assert tried > 500


def test_a_named_pipe_is_no_event_file(tmp_path: Path) -> None:
    """Reading it would never end, and would occupy a thread of the workspace for each request."""
    Events("u").define("c.s.a").end().store(tmp_path)
    (tmp_path / "events.jsonl").unlink(missing_ok=True)
    os.mkfifo(tmp_path / "events.jsonl")
    os.mkfifo(tmp_path / "event_log" / "pipe.parquet")
    report = built(tmp_path)
    assert [each["id"] for each in report["updates"]] == ["u"]
    assert len(report["notes"]) == 2
