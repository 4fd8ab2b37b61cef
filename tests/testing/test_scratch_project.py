"""A project of another author that has only the wheel: its tests run, and failures are readable."""

from __future__ import annotations

import site
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from tests.processes import environ_without, outcome

REPOSITORY = Path(__file__).resolve().parents[2]

PIPELINE = """\
from pyspark import pipelines as dp
from pyspark.sql import functions as F

@dp.materialized_view
@dp.expect_or_drop("priced", "price > 0")
def orders():
    return spark.read.table("raw").withColumn("price", F.round("price", 1))
"""
TESTS = """\
from pathlib import Path

from lakeward.testing import assert_frame_equal


def test_orders(lakehouse):
    lakehouse.seed("raw", [(1, 2.04), (2, -1.0)], "id bigint, price double")
    lakehouse.run("orders.py")
    assert_frame_equal(lakehouse.table("orders"), [(1, 2.0)])
    assert lakehouse.expectations("orders") == {"priced": (1, 1)}


def test_every_lakehouse_is_empty(lakehouse):
    assert lakehouse.spark.sql("show tables").count() == 0
    lakehouse.seed("raw", [(7, 7.0)], "id bigint, price double")
    assert lakehouse.table("main.default.raw").count() == 1


def test_seeding_again_replaces(lakehouse):
    lakehouse.seed("other.sales.t", [{"id": 1}, {"id": 2}])
    lakehouse.seed("other.sales.t", [{"name": "x"}])
    assert_frame_equal(lakehouse.table("other.sales.t"), [("x",)])


def test_a_volume_is_read_under_its_platform_path(lakehouse):
    (lakehouse.volume("Landing") / "a.json").write_text('{"id": 1}')
    frame = lakehouse.spark.read.json("/Volumes/main/default/Landing")
    assert_frame_equal(frame, [(1,)])


def test_a_builder_of_their_own(lakehouse):
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName("theirs").getOrCreate()
    lakehouse.seed("t", [(1,)], "id bigint")
    spark.table("t").write.saveAsTable("copy")
    assert lakehouse.table("copy").count() == 1


def test_sparks_error(lakehouse):
    lakehouse.spark.sql("select nowhere")


def test_wrong(lakehouse):
    lakehouse.seed("raw", [(1, 2.04)], "id bigint, price double")
    lakehouse.run("orders.py")
    assert_frame_equal(lakehouse.table("orders"), [(1, 3.0)])
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        timeout=120,
    )
    (built,) = folder.glob("lakeward-*.whl")
    return built


def test_the_wheel_holds_the_runtime_and_nothing_of_the_bundle(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"lakeward"}
    entry_points = next(name for name in names if name.endswith("entry_points.txt"))
    text = zipfile.ZipFile(wheel).read(entry_points).decode()
    assert "lakeward = lakeward.cli:main" in text
    assert "lakeward = lakeward.testing.plugin" in text


@pytest.fixture
def python(wheel: Path, tmp_path: Path) -> Path:
    """An interpreter that has the wheel and the dependencies of this one, but not its sources."""
    home = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True, timeout=120)
    interpreter = home / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(interpreter), "install", "--quiet"]
    subprocess.run([*install, "--no-deps", "--no-index", str(wheel)], check=True, timeout=120)
    (packages,) = home.glob("lib/python*/site-packages")
    # A folder named in a .pth file lends its packages; its own .pth files, as ours to `src`, are not read.
    (packages / "dependencies.pth").write_text(
        "\n".join({sysconfig.get_path("purelib"), *site.getsitepackages()})
    )
    return interpreter


@pytest.mark.process
def test_a_pipeline_test_of_five_lines_runs_in_an_empty_project(python: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "orders.py").write_text(PIPELINE)
    (project / "test_orders.py").write_text(TESTS)
    theirs = environ_without("PYTHON", "PYTEST")
    origin = subprocess.run(
        [python, "-c", "import lakeward; print(lakeward.__file__)"],
        cwd=project,
        env=theirs,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
    assert str(tmp_path / "venv") in origin

    ran = outcome([python, "-m", "pytest", "-q", "-rA"], cwd=project, env=theirs, timeout=300)

    assert "5 passed" in ran.stdout, ran.stdout + ran.stderr
    assert "2 failed" in ran.stdout
    diff = [line.split() for line in ran.stdout.splitlines()]
    assert ["E", "row", "with", "id=1"] in diff
    assert ["E", "price", "2.0", "3.0"] in diff
    for file in ("frames.py", "pyspark/", "captured.py"):
        assert file not in ran.stdout, "a failure points at the user's line, not into lakeward or Spark"
    assert 'lakehouse.spark.sql("select nowhere")' in ran.stdout
    assert not (project / ".lakeward").exists()
