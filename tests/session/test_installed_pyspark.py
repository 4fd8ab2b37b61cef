"""Python workers take the compiled PySpark of the installation, or else the archive."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.session.installed_pyspark import prefer_installed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PY4J = "py4j-0.10.9.9"


def installation(site: Path) -> list[str]:
    """A made-up installation in `site`; the entries that Spark puts in front of a worker's path."""
    home = site / "pyspark"
    for folder in (home / "python" / "lib", site / "py4j", site / f"{PY4J}.dist-info"):
        folder.mkdir(parents=True)
    (home / "__init__.py").touch()
    archives = [home / "python" / "lib" / name for name in ("pyspark.zip", f"{PY4J}-src.zip")]
    for archive in archives:
        archive.touch()
    return [*map(str, archives), str(home / "jars" / "spark-core.jar")]


def test_a_worker_imports_the_installed_pyspark(spark: SparkSession) -> None:
    def origins(_rows: object) -> list[tuple[str, str]]:
        import py4j
        import pyspark

        return [(pyspark.__file__, py4j.__file__)]

    import py4j
    import pyspark

    found = spark.sparkContext.parallelize([0], 1).mapPartitions(origins).collect()
    assert found == [(pyspark.__file__, py4j.__file__)]


def test_archives_of_the_installation_are_left_out(tmp_path: Path) -> None:
    first = installation(tmp_path)
    path = [*first, "/mine", str(tmp_path)]
    prefer_installed(path)
    assert path == [first[2], "/mine", str(tmp_path)]


def test_archives_stay_where_the_installation_is_not_on_the_path(tmp_path: Path) -> None:
    path = [*installation(tmp_path), "/mine"]
    before = list(path)
    prefer_installed(path)
    assert path == before


def test_an_archive_of_another_py4j_stays(tmp_path: Path) -> None:
    first = installation(tmp_path)
    (tmp_path / f"{PY4J}.dist-info").rename(tmp_path / "py4j-0.1.dist-info")
    path = [*first, str(tmp_path)]
    prefer_installed(path)
    assert path == [*first[1:], str(tmp_path)]


def test_archives_of_another_spark_stay(tmp_path: Path) -> None:
    path = [*installation(tmp_path / "opt"), str(tmp_path)]
    (tmp_path / "pyspark").mkdir()
    before = list(path)
    prefer_installed(path)
    assert path == before
