"""Updates that restart, retry or run continuously, and their event logs in SQL (SDP-4, SDP-5)."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from lakeward.pipelines.execution import flow_execution
from lakeward.session.daemon import lease
from tests.pipelines.conftest import Lab, result


def _landing_with_one_file(lab: Lab) -> Path:
    landing = lab.folder / "landing"
    landing.mkdir()
    (landing / "a.json").write_text('{"id": 1}\n')
    return landing


def test_new_columns_in_the_files_restart_the_update_once(lab: Lab) -> None:
    landing = _landing_with_one_file(lab)
    lab.file("a.py", f"""
        import dlt
        @dlt.table
        def bronze():
            return spark.readStream.format("cloudFiles").option("cloudFiles.format", "json").load("{landing}")
        @dlt.table
        def counted(): return spark.table("bronze").selectExpr("count(*) AS n")
    """)  # fmt: skip
    lab.done()
    (landing / "b.json").write_text('{"id": 2, "name": "Ann"}\n')
    update = lab.done()
    assert result(update, "bronze").rows_written == 1
    assert lab.rows("bronze", "id, name") == [("1", None), ("2", "Ann")] and lab.rows("counted") == [(2,)]
    created = [json.loads(row["details"])["create_update"] for row in lab.log("event_type = 'create_update'")]
    assert sorted(each["cause"] for each in created) == ["SCHEMA_CHANGE", "USER_ACTION", "USER_ACTION"]
    assert lab.log()[-1]["origin"]["update_id"] is not None
    assert [event.state for event in lab.events if not event.dataset].count("FAILED") == 0


def test_new_columns_that_no_update_adds_do_not_restart_it(lab: Lab) -> None:
    landing = _landing_with_one_file(lab)
    lab.file("a.py", f"""
        import dlt
        @dlt.table
        def bronze():
            files = spark.readStream.format("cloudFiles").option("cloudFiles.format", "json")
            return files.option("cloudFiles.schemaEvolutionMode", "failOnNewColumns").load("{landing}")
    """)  # fmt: skip
    lab.done()
    (landing / "b.json").write_text('{"id": 2, "name": "Ann"}\n')
    update = lab.run()
    assert update.state == "FAILED" and "automatic retry: false" in str(update.error)
    created = [json.loads(row["details"])["create_update"] for row in lab.log("event_type = 'create_update'")]
    assert [each["cause"] for each in created] == ["USER_ACTION", "USER_ACTION"]
    assert not [event for event in lab.events if "restarted" in event.message]


def test_an_update_restarts_for_each_evolution(lab: Lab) -> None:
    landing = _landing_with_one_file(lab)
    lab.file("a.py", f"""
        import dlt
        @dlt.table
        def bronze():
            files = spark.readStream.format("cloudFiles").option("cloudFiles.maxFilesPerTrigger", 1)
            return files.option("cloudFiles.format", "json").load("{landing}")
    """)  # fmt: skip
    lab.done()
    (landing / "b.json").write_text('{"id": 2, "name": "Ann"}\n')
    (landing / "c.json").write_text('{"id": 3, "age": 4}\n')
    lab.done()
    assert lab.rows("bronze", "id, name, age") == [("1", None, None), ("2", "Ann", None), ("3", None, "4")]


FLAKY = """
import dlt
from pathlib import Path
calls = Path("HERE")

@dlt.table
def flaky():
    calls.write_text(calls.read_text() + "x" if calls.exists() else "x")
    if len(calls.read_text()) in FAILS:
        raise ERROR
    return spark.range(3)
"""


@pytest.mark.parametrize(
    ("development", "error", "state", "calls"),
    [
        (False, "ConnectionResetError('by peer')", "COMPLETED", 4),
        pytest.param(True, "ConnectionResetError('by peer')", "FAILED", 2, marks=pytest.mark.slow),
        pytest.param(False, "ValueError('wrong')", "FAILED", 2, marks=pytest.mark.slow),
    ],
)
def test_production_retries_transient_failures(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, development: bool, error: str, state: str, calls: int
) -> None:
    monkeypatch.setattr(flow_execution, "_FIRST_BACKOFF", 0.0)
    # Each message of a ConnectionError waits a second in case the JVM is about to exit.
    monkeypatch.setattr(lease, "_PATIENCE", 0.0)
    # The first call is that of phase 1.
    text = FLAKY.replace("HERE", str(lab.folder / "calls")).replace("FAILS", "(2, 3)").replace("ERROR", error)
    lab.file("a.py", text)
    update = lab.run(development=development)
    assert (update.state, len((lab.folder / "calls").read_text())) == (state, calls)
    retried = [event for event in lab.log("event_type = 'flow_progress'") if "RETRYING" in event["details"]]
    assert len(retried) == (2 if state == "COMPLETED" else 0)


def test_a_continuous_update_takes_what_comes_until_sigterm(lab: Lab) -> None:
    lab.seed("raw", "SELECT id FROM range(3)")
    lab.file("a.py", """
        import dlt
        @dlt.table
        @dlt.expect("small", "id < 4")
        def bronze(): return spark.readStream.table("SRC.raw")
        @dlt.table
        def total(): return spark.table("bronze").selectExpr("count(*) AS n")
    """)  # fmt: skip
    problems: list[str] = []

    def until(count: int) -> None:
        ended = time.monotonic() + 60
        while sum(each.dataset == "total" and each.state == "COMPLETED" for each in lab.events) < count:
            if time.monotonic() > ended:
                problems.append(f"pass {count} did not come")
                return
            time.sleep(0.1)

    def outside() -> None:
        until(1)
        lab.seed("raw", "SELECT id FROM range(3, 5)")
        until(2)
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=outside)
    thread.start()
    update = lab.run(continuous=True, configuration={"pipelines.trigger.interval": "200 ms"})
    thread.join()
    assert (update.state, problems) == ("COMPLETED", [])
    assert lab.rows("total") == [(5,)]
    bronze = result(update, "bronze")
    assert bronze.rows_written == 5
    assert [(rule.passed, rule.failed) for rule in bronze.expectations] == [(4, 1)]
    log = lab.log("event_type = 'update_progress'")
    states = [json.loads(row["details"])["update_progress"]["state"] for row in log]
    assert states == ["INITIALIZING", "RUNNING", "STOPPING", "COMPLETED"]


def test_sql_reads_the_event_log(lab: Lab) -> None:
    lab.storage = lab.settings.pipelines / f"folder_of_{lab.schema}"
    lab.file(
        "a.py", "import dlt\n@dlt.table\n@dlt.expect('some', 'id > 0')\ndef t(): return spark.range(2)\n"
    )
    lab.done()
    query = """
        SELECT e.name, e.passed_records, e.failed_records FROM (
            SELECT explode(from_json(
                details:flow_progress.data_quality.expectations,
                'array<struct<name:string,dataset:string,passed_records:int,failed_records:int>>')) AS e
            FROM {} WHERE event_type = 'flow_progress' AND origin.flow_name LIKE '%t')
    """
    for source in (f"event_log('{lab.schema}')", f"event_log(TABLE(main.{lab.schema}.t))"):
        assert [tuple(row) for row in lab.spark.sql(query.format(source)).collect()] == [("some", 1, 1)]
    with pytest.raises(Exception, match="EVENT_LOG_UNAVAILABLE"):
        lab.spark.sql("SELECT * FROM event_log('unknown')")
    lab.spark.sql(f"CREATE TABLE main.{lab.source}.mine (id INT)")
    with pytest.raises(Exception, match=r"EVENT_LOG_UNAVAILABLE.*not managed by a pipeline"):
        lab.spark.sql(f"SELECT * FROM event_log(TABLE(main.{lab.source}.mine))")


@pytest.mark.slow
def test_changes_in_a_source_fail_its_stream_unless_they_are_skipped(lab: Lab) -> None:
    lab.seed("raw", "SELECT id FROM range(3)")
    lab.file("a.py", """
        import dlt
        @dlt.table
        def strict(): return spark.readStream.table("SRC.raw")
        @dlt.table
        def lenient(): return spark.readStream.option("skipChangeCommits", "true").table("SRC.raw")
    """)  # fmt: skip
    lab.done()
    lab.spark.sql(f"DELETE FROM main.{lab.source}.raw WHERE id = 1")
    lab.seed("raw", "SELECT 9L id")
    update = lab.run()
    strict = result(update, "strict")
    assert strict.state == "FAILED" and "DELTA_SOURCE" in str(strict.error)
    assert lab.rows("lenient") == [(0,), (1,), (2,), (9,)]


@pytest.mark.slow
def test_a_flow_with_a_reset_checkpoint_keeps_its_table(lab: Lab) -> None:
    lab.seed("raw", "SELECT 1 id")
    lab.file("a.py", """
        import dlt
        dlt.create_streaming_table("bronze")
        @dlt.append_flow(target="bronze")
        def again(): return spark.readStream.table("SRC.raw")
        @dlt.append_flow(target="bronze")
        def other(): return spark.readStream.table("SRC.raw").selectExpr("id + 10 AS id")
    """)  # fmt: skip
    lab.done()
    lab.done(reset_checkpoints=["again"])
    lab.done()
    assert lab.rows("bronze") == [(1,), (1,), (11,)]


def test_an_error_of_a_worker_names_the_line_of_the_users_function(lab: Lab) -> None:
    lab.seed("raw", "SELECT id FROM range(3)")
    file = lab.file("a.py", """
        import pandas as pd
        from pyspark import pipelines as dp
        from pyspark.sql import functions as F

        def keep_state(key, frames, state):
            yield pd.DataFrame({"k": [float("keep_state")]})

        def raw(): return spark.readStream.table("SRC.raw")

        @dp.table
        def stateful(): return raw().groupBy("id").applyInPandasWithState(
            keep_state, "k double", "n long", "append", "NoTimeout")

        @dp.table
        def by_udf(): return raw().select(F.udf(lambda _: float("by_udf"), "double")("id").alias("k"))

        @dp.materialized_view
        def grouped():
            return spark.read.table("SRC.raw").groupBy("id").applyInPandas(
                lambda frame: frame.assign(k=float("grouped")), "id long, k double")

        @dp.materialized_view
        def mapped():
            return spark.read.table("SRC.raw").mapInPandas(
                lambda frames: (frame.assign(k=float("mapped")) for frame in frames), "id long, k double")
    """)  # fmt: skip
    update = lab.run()
    lines = file.read_text().splitlines()
    for name, raised in {"stateful": "keep_state", **{n: n for n in ("by_udf", "grouped", "mapped")}}.items():
        error = str(result(update, name).error)
        line = next(number for number, text in enumerate(lines, 1) if f'float("{raised}")' in text)
        assert f"{file}:{line}: " in error, name
        assert f"could not convert string to float: '{raised}'" in error, name
