"""Materialized views that do not read each other are refreshed at the same time, each in its own session."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.lanes import sampled
from tests.pipelines.conftest import Lab, result
from tests.pipelines.incremental import planned
from tests.pipelines.test_killed import completes, kill, started, wait_for
from tests.trees import write_files

# Each view is computed when the other one is: its row waits for the file that the other's row writes.
MEETING = """
import time
from pathlib import Path
from pyspark import pipelines as dp
from pyspark.sql import functions as F

def declare(name, other):
    @F.udf("string")
    def meet(_):
        Path({folder!r}, name).touch()
        until = time.monotonic() + 120
        while not Path({folder!r}, other).exists():
            if time.monotonic() > until: raise TimeoutError(f"{{other}} is not computed")
            time.sleep(0.05)
        return name

    @dp.materialized_view(name=name)
    def view(): return spark.read.table("SRC.a").limit(1).select(meet("id").alias("met"))

declare("left", "right")
declare("right", "left")
"""
MANY = "\n".join(
    f"CREATE MATERIALIZED VIEW v{n} AS SELECT id % {n + 2} AS g, count(*) AS n FROM SRC.a GROUP BY ALL;"
    for n in range(6)
)


POOLS = """
from pyspark import TaskContext, pipelines as dp
from pyspark.sql import functions as F

@F.udf("string")
def pool(_): return TaskContext.get().getLocalProperty("spark.scheduler.pool")

@dp.materialized_view
def view(): return spark.read.table("SRC.a").limit(1).select(pool("id").alias("pool"))

@dp.table
def stream(): return spark.readStream.table("SRC.a").where("id = 1").select(pool("id").alias("pool"))

dp.create_streaming_table("folded")
dp.create_auto_cdc_flow(target="folded", source="changes", keys=["pool"], sequence_by="id", name="folding")

@dp.temporary_view
def changes(): return spark.readStream.table("SRC.a").where("id = 1").select(pool("id").alias("pool"), "id")
"""


@pytest.fixture
def source(lab: Lab) -> str:
    lab.seed("a", "SELECT id FROM range(100)")
    return f"main.{lab.source}.a"


def test_views_are_refreshed_at_the_same_time(lab: Lab, source: str, tmp_path: Path) -> None:
    lab.file("views.py", MEETING.format(folder=str(tmp_path)))
    lab.done()
    assert lab.rows("left") + lab.rows("right") == [("left",), ("right",)]


@pytest.mark.slow
def test_each_flow_has_a_pool_of_its_own(lab: Lab, source: str) -> None:
    """Spark shares its cores among pools: a small flow does not wait for all tasks of a large one."""
    assert lab.spark.conf.get("spark.scheduler.mode") == "FAIR"
    lab.file("views.py", POOLS)
    lab.done()
    assert lab.spark.sparkContext.getLocalProperty("spark.scheduler.pool") is None
    assert lab.rows("view") + lab.rows("stream") == [("view",), ("stream",)]
    assert [row["pool"] for row in lab.table("folded").collect()] == ["folding"]


@pytest.mark.slow
def test_each_commit_has_the_metadata_of_its_own_view(lab: Lab, source: str) -> None:
    """What a view has seen is in its commits; a view that found another's would be computed again."""
    lab.file("views.sql", MANY)
    lab.done()
    for added in (1, 2):
        lab.spark.sql(f"INSERT INTO {source} VALUES ({1000 + added})")
        plans = planned(lab, lab.done())
        assert {name: plan.chosen for name, plan in plans.items()} == {
            f"v{n}": "GROUP_AGGREGATE" for n in range(6)
        }
        for n in range(6):
            wanted = lab.spark.sql(f"SELECT id % {n + 2}, count(*) FROM {source} GROUP BY ALL").collect()
            assert lab.rows(f"v{n}") == sorted(map(tuple, wanted))
    assert {plan.chosen for plan in planned(lab, lab.done()).values()} <= {"NO_OP"}


@pytest.mark.slow
def test_settings_hold_for_the_flow_that_has_them(lab: Lab, source: str) -> None:
    declared = "\n".join(
        f"@dp.materialized_view(name='z{n}', spark_conf={{'spark.sql.session.timeZone': '{zone}'}})\n"
        f"def z{n}(): return spark.sql(\"SELECT date_format(timestamp_seconds(0), 'HH') AS hour\")\n"
        for n, zone in enumerate(("UTC", "+05:00", "+09:00"))
    )
    plain = declared.replace("name='z", "name='p").replace(", spark_conf=", ") #")
    before = lab.spark.conf.get("spark.sql.session.timeZone")
    lab.file("views.py", f"from pyspark import pipelines as dp\n{declared}{plain}")
    lab.done()
    assert [lab.rows(f"z{n}") for n in range(3)] == [[("00",)], [("05",)], [("09",)]]
    assert lab.rows("p0") == lab.rows("p1") == lab.rows("p2")
    assert lab.spark.conf.get("spark.sql.session.timeZone") == before


def test_a_failure_leaves_the_others(lab: Lab, source: str) -> None:
    """INV-12: views that do not read the one that fails are refreshed."""
    broken = (
        "CREATE MATERIALIZED VIEW broken AS SELECT CAST(raise_error('no such day') AS INT) AS x FROM SRC.a;"
    )
    reader = "CREATE MATERIALIZED VIEW reader AS SELECT * FROM broken;"
    lab.file("views.sql", f"{MANY}\n{broken}\n{reader}")
    update = lab.run()
    assert update.state == "FAILED"
    assert "no such day" in str(result(update, "broken").error)
    assert result(update, "reader").state == "SKIPPED"
    assert {result(update, f"v{n}").state for n in range(6)} == {"COMPLETED"}


@pytest.mark.process
@pytest.mark.parametrize("ends", sampled(["SIGINT", "SIGKILL"], "SIGKILL"))
def test_an_update_that_ends_while_views_are_refreshed(tmp_path: Path, ends: str) -> None:
    """A view is in its table as a whole or not at all, and the next update refreshes it."""
    views = MEETING.format(folder=str(tmp_path)).replace("SRC.a", "rows").replace('"left")', '"absent")')
    rows = "@dp.materialized_view\ndef rows(): return spark.range(10)\n"
    write_files(tmp_path / "files", {"a.py": views.replace("def declare", f"{rows}\ndef declare", 1)})
    process = started(tmp_path)
    wait_for(process, "right RUNNING")
    while not (tmp_path / "right").exists():
        assert process.poll() is None
        time.sleep(0.05)
    if ends == "SIGKILL":
        kill(process)
    else:
        process.send_signal(signal.SIGINT)
        said = wait_for(process, "ENDED")
        assert "ENDED CANCELED" in said and process.wait() == 130 and process.stdout is not None
        process.stdout.close()
    (tmp_path / "absent").touch()
    completes(tmp_path)
