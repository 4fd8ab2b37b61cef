"""Invalid files and data through the commands: a clear error, no partial writes, the next run succeeds."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.inside import Inside

LOADER = """\
from pyspark import pipelines as dp

@dp.table
def landed():
    reader = spark.readStream.format("cloudFiles").option("cloudFiles.format", "json")
    return reader.load("landing")
"""
SOUND = """\
from pyspark import pipelines as dp

@dp.materialized_view
def base():
    return spark.range(3)

@dp.materialized_view
def result():
    return spark.read.table("base").selectExpr("id + 1 AS id")
"""

FEED = """\
from pyspark import pipelines as dp

dp.create_streaming_table("held")
dp.{}

@dp.temporary_view
def feed():
    return spark.readStream.format("rate").load().selectExpr("value AS id")
"""


@dataclass(frozen=True)
class Fault:
    """A pipeline file that cannot run, and words of the answer."""

    source: str
    says: tuple[str, ...]


FAULTS = {
    "syntax error": Fault("def broken(:\n", ("PIPELINE_SOURCE_SYNTAX_ERROR", "shop.py:1", "def broken(:")),
    "a file that raises": Fault("raise RuntimeError('no wings')\n", ("shop.py:1", "RuntimeError: no wings")),
    "a dataset that raises": Fault(
        SOUND.replace("return spark.range(3)", "raise KeyError('wings')"),
        ("shop.py:5", "wings"),
    ),
    "a cycle": Fault(SOUND.replace("spark.range(3)", 'spark.read.table("result")'), ("base", "result")),
    "a name used twice": Fault(SOUND.replace("def base", "def result"), ("result", "twice")),
    "an unknown table": Fault(
        SOUND.replace('table("base")', 'table("bose")'),
        ("TABLE_OR_VIEW_NOT_FOUND", "bose", "base", "shop.py:9"),
    ),
    "a table that is nowhere": Fault(
        SOUND.replace('table("base")', 'table("prod.crm.customers")'),
        ("TABLE_OR_VIEW_NOT_FOUND", "prod.crm.customers", "lakeward seed prod.crm.customers --from FILE"),
    ),
    "a mistyped key of AUTO CDC": Fault(
        FEED.format('create_auto_cdc_flow(target="held", source="feed", keys=["idd"], sequence_by="id")'),
        ("AUTOCDC_KEY_NOT_IN_SELECTED_SCHEMA", "shop.py:4", "idd", "dp.create_auto_cdc_flow("),
    ),
    "a mistyped key of snapshots": Fault(
        FEED.format('create_auto_cdc_from_snapshot_flow(target="held", source="feed", keys=["idd"])'),
        ("shop.py:4", "idd", "dp.create_auto_cdc_from_snapshot_flow(target="),
    ),
    "an expectation that is not SQL": Fault(
        SOUND.replace("def result", '@dp.expect("positive", "id >> > 0")\ndef result'),
        ("positive", "id >> > 0"),
    ),
    "an expectation on an unknown column": Fault(
        SOUND.replace("def result", '@dp.expect("positive", "idd > 0")\ndef result'), ("positive", "idd")
    ),
}


def tables(folder: Path) -> set[str]:
    """Names of the tables in the folder's lakehouse."""
    logs = (folder / ".lakeward").glob("*/warehouse/*/*/*/_delta_log")
    return {log.parent.name for log in logs}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_faulty_pipeline_file_fails_the_run_with_its_place_and_writes_nothing(
    fault: Fault, inside: Inside
) -> None:
    inside.write(shop=fault.source)
    ran = inside("pipeline", "shop.py", "--json")
    assert (ran.returncode, ran.document["state"]) == (1, "FAILED"), ran.stderr
    said = ran.stdout.replace("\\n", "\n")
    for words in fault.says:
        assert words in said, said
    assert tables(inside.folder) == set()


def test_the_error_is_on_the_screen_too_and_a_mended_file_runs(inside: Inside) -> None:
    inside.write(shop=FAULTS["an unknown table"].source)
    ran = inside("pipeline", "shop.py")
    assert ran.returncode == 1
    assert "bose" in ran.stdout + ran.stderr
    assert "shop.py:9" in ran.stdout + ran.stderr
    inside.write(shop=SOUND)
    assert inside("pipeline", "shop.py").returncode == 0
    assert tables(inside.folder) == {"base", "result"}


def landing(folder: Path) -> Path:
    (folder / "landing").mkdir()
    return folder / "landing"


def rows(inside: Inside, table: str) -> int:
    ran = inside("sql", "--format", "csv", "-e", f"select count(*) from {table}")
    assert ran.returncode == 0, ran.stderr
    return int(ran.stdout.splitlines()[1])


def test_a_landing_folder_that_is_missing_then_empty_then_filled(inside: Inside) -> None:
    inside.write(shop=LOADER)
    ran = inside("pipeline", "shop.py", "--json")
    assert (ran.returncode, ran.document["state"]) == (1, "FAILED")
    assert "landing" in ran.stdout
    assert "Project" not in ran.stdout
    folder = landing(inside.folder)
    ran = inside("pipeline", "shop.py", "--json")
    assert (ran.returncode, ran.document["state"]) == (1, "FAILED")
    assert "CF_EMPTY_DIR_FOR_SCHEMA_INFERENCE" in ran.stdout
    assert tables(inside.folder) == set()
    (folder / "a.json").write_text('{"id": 1}\n')
    assert inside("pipeline", "shop.py").returncode == 0
    assert rows(inside, "landed") == 1


def test_a_truncated_archive_fails_the_run_and_is_read_whole_once_it_is_whole(inside: Inside) -> None:
    inside.write(shop=LOADER)
    folder = landing(inside.folder)
    (folder / "a.json").write_text('{"id": "1"}\n')
    assert inside("pipeline", "shop.py").returncode == 0
    whole = gzip.compress(b"".join(b'{"id": "%d"}\n' % (n * 7919) for n in range(5000)))
    (folder / "b.json.gz").write_bytes(whole[: len(whole) // 2])
    ran = inside("pipeline", "shop.py", "--json")
    assert (ran.returncode, ran.document["state"]) == (1, "FAILED")
    assert "b.json.gz" in ran.stdout
    assert rows(inside, "landed") == 1
    (folder / "b.json.gz").write_bytes(whole)
    assert inside("pipeline", "shop.py").returncode == 0
    assert rows(inside, "landed") == 5001


def test_a_file_of_statements_that_is_a_folder_is_wrong_usage(inside: Inside) -> None:
    landing(inside.folder)
    ran = inside("sql", "-f", "landing")
    assert ran.returncode == 2
    assert "landing" in ran.stderr
    assert "folder" in ran.stderr.lower() or "directory" in ran.stderr.lower()


def test_a_full_disk_ends_the_run_with_one_sentence_leaves_the_table_whole_and_the_next_run_continues(
    inside: Inside, full_disk: Callable[[int], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = full_disk(12 << 20)
    monkeypatch.setenv("LAKEWARD_HOME", str(disk))
    big = SOUND.replace("spark.range(3)", 'spark.range(SIZE).selectExpr("id", "sha2(string(id), 512) AS x")')
    inside.write(shop=big.replace("SIZE", "1000"))
    assert inside("pipeline", "shop.py").returncode == 0
    inside.write(shop=big.replace("SIZE", "300000"))
    ran = inside("pipeline", "shop.py", "--json")
    assert (ran.returncode, ran.document["state"]) == (1, "FAILED")
    base = next(each for each in ran.document["datasets"] if each["name"].endswith("base"))
    assert "DISK_FULL" in base["error"]
    assert "LAKEWARD_HOME" in base["error"]
    assert len(base["error"].splitlines()) <= 3
    assert rows(inside, "base") == 1000
    subprocess.run(["mount", "-o", "remount,size=400m", str(disk)], check=True)
    assert inside("pipeline", "shop.py").returncode == 0
    assert rows(inside, "base") == 300000
    assert json.loads(inside("sql", "--format", "json", "-e", "select max(id) m from result").stdout)
