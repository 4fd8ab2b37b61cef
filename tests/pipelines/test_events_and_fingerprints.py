"""The event log, and whether a materialized view has to be written again (SDP-5)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from lakeward.pipelines.events import event_log, progress_reporter
from lakeward.pipelines.writers.query_fingerprint import commit_metadata
from lakeward.report import build_report
from lakeward.session import USER_METADATA, temporary_conf
from tests.pipelines.conftest import Lab, result


def test_the_event_log_describes_the_update(lab: Lab) -> None:
    lab.seed("raw", "SELECT id FROM range(4)")
    lab.file("a.py", """
        import dlt
        @dlt.table
        @dlt.expect_or_drop("small", "id < 3")
        def silver(): return spark.readStream.table("SRC.raw")
        @dlt.table
        def gold(): return spark.table("silver")
    """)  # fmt: skip
    update = lab.done()
    report = build_report("p", lab.storage)
    assert report is not None
    (reported,) = report["updates"]
    assert (reported["id"], reported["state"]) == (update.update_id, "COMPLETED")
    found = {name.rpartition(".")[2]: each for name, each in reported["datasets"].items()}
    assert (found["silver"]["rows"], found["silver"]["dropped"], found["gold"]["rows"]) == (3, 1, 3)
    assert found["silver"]["expectations"] == [{"name": "small", "passed": 3, "failed": 1}]
    inputs = [each["flows"][0]["inputs"] for each in report["datasets"]]
    assert inputs == [[], [f"main.{lab.schema}.silver"]]
    events = lab.log()
    assert events[0]["event_type"] == "create_update"
    assert {event["origin"]["update_id"] for event in events} == {update.update_id}
    details = [json.loads(event["details"]) for event in events]
    states = [each["update_progress"]["state"] for each in details if "update_progress" in each]
    assert states == ["INITIALIZING", "RUNNING", "COMPLETED"]
    lineage = {
        each["flow_definition"]["output_dataset"].split(".")[-1]: [
            i["name"] for i in each["flow_definition"]["input_datasets"]
        ]
        for each in details
        if "flow_definition" in each
    }
    assert lineage == {"silver": [], "gold": ["silver"]}
    (silver,) = [
        each["flow_progress"]
        for each, event in zip(details, events, strict=True)
        if event["origin"]["flow_name"] == f"main.{lab.schema}.silver"
        and "metrics" in each.get("flow_progress", {})
    ]
    assert silver == {
        "status": "RUNNING",
        "metrics": {"num_output_rows": 3},
        "data_quality": {
            "dropped_records": 1,
            "expectations": [
                {"name": "small", "dataset": "silver", "passed_records": 3, "failed_records": 1}
            ],
        },
    }


def test_the_event_log_describes_sinks(lab: Lab) -> None:
    lab.seed("raw", "SELECT 1 id")
    lab.file("a.py", f"""
        import dlt
        dlt.create_sink("out", "delta", {{"path": "{lab.folder}/out"}})
        @dlt.append_flow(target="out")
        def f(): return spark.readStream.table("SRC.raw")
    """)  # fmt: skip
    lab.done()
    (event,) = lab.log("event_type = 'sink_definition'")
    options = {"path": f"{lab.folder}/out"}
    assert json.loads(event["details"])["sink_definition"] == {"format": "delta", "options": options}
    assert event["origin"]["dataset_name"] == "out"


def test_each_micro_batch_is_reported_once_while_others_are_seen_running(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_reporter, "_POLL_SECONDS", 0)
    for _ in range(3):
        lab.seed("raw", "SELECT id FROM range(0, 4, 1, 1)")
    lab.file("a.py", """
        import dlt
        @dlt.table
        def bronze(): return spark.readStream.option("maxFilesPerTrigger", 1).table("SRC.raw")
    """)  # fmt: skip
    lab.done()
    report = build_report("p", lab.storage)
    assert report is not None
    (stream,) = report["streams"]
    assert stream["flow"] == f"main.{lab.schema}.bronze"
    assert [(each["batch"], each["rows"]) for each in stream["batches"]] == [(0, 4), (1, 4), (2, 4)]
    assert all(each["seconds"] > 0 for each in stream["batches"])


@pytest.fixture(params=[0, float("inf")], ids=["warm", "cold"])
def commits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many commits an update's event log gets: in a new JVM the first is made while flows run."""
    monkeypatch.setattr(event_log, "_COLD_SECONDS", request.param)
    return 2 if request.param else 1


def test_an_update_costs_the_event_log_few_commits_and_no_event(lab: Lab, commits: int) -> None:
    lab.file("a.py", "import dlt\n@dlt.table\ndef t(): return spark.range(1)\n")
    lab.done()
    assert len(list((lab.storage / "event_log" / "_delta_log").glob("*.json"))) == commits
    numbers = [event.sequence.data_plane_id.seq_no for event in lab.log()]
    assert numbers == list(range(1, len(numbers) + 1))
    assert "COMPLETED" in lab.log("event_type = 'update_progress'")[-1].details


@pytest.mark.usefixtures("commits")
def test_a_broken_event_log_is_reported_and_fails_no_table(lab: Lab) -> None:
    lab.file("a.py", "import dlt\n@dlt.table\ndef t(): return spark.range(1)\n")
    lab.storage.mkdir()
    (lab.storage / "event_log").write_text("in the way")
    update = lab.run()
    assert (update.state, len(lab.rows("t"))) == ("COMPLETED", 1)
    assert "EVENT_LOG_NOT_WRITTEN" in str(update.error)


def view(query: str, options: str = "") -> str:
    imports = "import dlt\nfrom pyspark.sql import functions as F\n"
    return f"{imports}@dlt.table({options})\ndef t(): return {query}\n"


DETERMINISTIC = {
    "a table": "spark.table('SRC.raw')",
    "a subquery": (
        "spark.sql('SELECT id, count(*) n FROM SRC.raw WHERE id IN (SELECT id FROM SRC.raw) GROUP BY ALL')"
    ),
    "a range": "spark.range(10)",
}
NONDETERMINISTIC = {
    "rand": "spark.range(3).withColumn('x', F.rand())",
    "current_timestamp": "spark.range(3).withColumn('x', F.current_timestamp())",
    "now": "spark.sql('SELECT now() x, id FROM range(3)')",
    "uuid": "spark.sql('SELECT uuid() x')",
    "udf": "spark.range(3).withColumn('x', F.udf(lambda x: x).asNondeterministic()('id'))",
    "local rows": "spark.createDataFrame([(1,)], 'x int')",
    "files": "spark.read.parquet('FILES')",
}


@dataclass
class Twice:
    """Versions and written rows of one view per query, after two updates without a change between them."""

    versions: dict[str, tuple[int, int]]
    rows_written: dict[str, int | None]


@pytest.fixture(scope="module")
def twice(module_lab: Callable[[], Lab]) -> Twice:
    lab = module_lab()
    lab.seed("raw", "SELECT id FROM range(4)")
    lab.spark.range(2).write.parquet(str(lab.folder / "files.parquet"))
    names = {query: query.replace(" ", "_") for query in (*DETERMINISTIC, *NONDETERMINISTIC)}
    for query, text in {**DETERMINISTIC, **NONDETERMINISTIC}.items():
        file = view(text.replace("FILES", f"{lab.folder}/files.parquet"))
        lab.file(f"{names[query]}.py", file.replace("def t()", f"def {names[query]}()"))
    lab.done()
    before = {query: lab.version(name) for query, name in names.items()}
    update = lab.done()
    return Twice(
        {query: (before[query], lab.version(name)) for query, name in names.items()},
        {query: result(update, name).rows_written for query, name in names.items()},
    )


@pytest.mark.parametrize("query", DETERMINISTIC)
def test_an_unchanged_view_is_not_written_again(twice: Twice, query: str) -> None:
    before, after = twice.versions[query]
    assert (after, twice.rows_written[query]) == (before, 0)


@pytest.mark.parametrize("query", NONDETERMINISTIC)
def test_a_view_whose_result_may_differ_is_always_written(twice: Twice, query: str) -> None:
    assert twice.versions[query] == (0, 1)


# Every change is made to the pipeline that the earlier ones have left, and kept.
CHANGES: dict[str, Callable[[Lab], object]] = {
    "nothing": lambda lab: None,
    "a new version of the input": lambda lab: lab.seed("raw", "SELECT 9L id"),
    "other code": lambda lab: lab.file("a.py", importing(view("spark.table('SRC.raw').where('id > 1')"))),
    "nothing in it but in imported code": lambda lab: lab.file("helper/__init__.py", "Y = 1\n"),
    "nothing in it but a new file": lambda lab: lab.file("b.py", "x = 1\n"),
    "a property": lambda lab: lab.file(
        "a.py", importing(view("spark.table('SRC.raw').where('id > 1')", "table_properties={'a': 'b'}"))
    ),
    "a foreign commit": lambda lab: delete_as_an_update(lab, f"main.{lab.schema}.t", "id = 2"),
    "a full refresh": lambda lab: None,
    "the configuration": lambda lab: None,
    "nothing either": lambda lab: None,
}


def delete_as_an_update(lab: Lab, table: str, condition: str) -> None:
    """Delete rows of a view, which users cannot do."""
    with temporary_conf(lab.spark, {USER_METADATA: commit_metadata(None, "another")}):
        lab.spark.sql(f"DELETE FROM {table} WHERE {condition}")


def importing(text: str) -> str:
    return "import helper\n" + text


@pytest.fixture(scope="module")
def commits_after(module_lab: Callable[[], Lab]) -> dict[str, int]:
    """Commits to the view by the update after each change."""
    lab = module_lab()
    lab.seed("raw", "SELECT id FROM range(4)")
    lab.file("helper/__init__.py", "X = 1\n")
    lab.file("a.py", importing(view("spark.table('SRC.raw')")))
    lab.done()
    commits, configuration = {}, {}
    for change, make in CHANGES.items():
        make(lab)
        if change == "the configuration":
            configuration = {"a.b": "c"}
        version = lab.version("t")
        lab.done(configuration=configuration, full_refresh_all=change == "a full refresh")
        commits[change] = lab.version("t") - version
    return commits


@pytest.mark.parametrize("change", CHANGES)
def test_a_view_is_written_again_after(commits_after: dict[str, int], change: str) -> None:
    assert commits_after[change] == (0 if "nothing" in change else 1)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_event_log_is_published_as_a_table(lab: Lab, depth: int) -> None:
    name = ".".join(("main", lab.schema, "`The_Events`")[3 - depth :])
    lab.storage = lab.folder / "a place" / "100% é"
    lab.file("a.py", "import dlt\n@dlt.table\ndef t(): return spark.range(3)")
    assert lab.done(event_log=name).error is None
    table = f"main.{lab.schema}.the_events"
    first = lab.spark.table(table)
    assert sorted(row["id"] for row in first.collect()) == sorted(row["id"] for row in lab.log())
    assert lab.done(event_log=name).error is None
    updates = f"SELECT DISTINCT origin.update_id FROM {table} WHERE event_type = 'create_update'"
    assert lab.spark.sql(updates).count() == 2


def test_a_dry_run_publishes_no_event_log(lab: Lab) -> None:
    lab.file("a.py", "import dlt\n@dlt.table\ndef t(): return spark.range(3)")
    lab.run(event_log="events", dry_run=True)
    assert "events" not in lab.tables()


def test_an_event_log_replaces_no_other_table(lab: Lab) -> None:
    lab.spark.sql(f"CREATE TABLE main.{lab.schema}.events AS SELECT 1 AS id")
    lab.file("a.py", "import dlt\n@dlt.table\ndef t(): return spark.range(3)")
    update = lab.run(event_log="events")
    assert "EVENT_LOG_NOT_WRITTEN" in (update.error or "") and "is not the event log" in (update.error or "")
    assert lab.rows("t") == [(0,), (1,), (2,)] and lab.rows("events") == [(1,)]
