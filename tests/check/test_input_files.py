"""Platform files that code reads and nothing writes are reported; files that it may have written are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.check import check
from tests.check.conftest import Look

_FILE = "/Volumes/main/raw/files/orders"
_READERS = {
    "load": "spark.read.format('json').load('{}')",
    "named": "spark.read.load(path='{}', format='json')",
    "csv": "spark.read.option('header', True).csv('{}')",
    "list": "spark.read.json(['{}', '/tmp/x'])",
    "option": "spark.read.format('text').option('path', '{}').load()",
    "stream": "spark.readStream.format('cloudFiles').option('cloudFiles.format', 'csv').load('{}')",
    "constant": "RAW = '{}'\ndef f():\n    return spark.read.parquet(RAW)",
    "f-string": "BASE = '{}'\nspark.read.parquet(f'{{BASE}}/2024')",
    "delta": "from delta.tables import DeltaTable\nDeltaTable.forPath(spark, '{}')",
    "pandas": "import pandas as pd\nx = pd.read_csv('{}').head()",
    "polars": "import polars\nx = polars.read_parquet('{}')",
    "open": "with open('{}') as f:\n    f.read()",
    "ls": "for each in dbutils.fs.ls('{}'):\n    print(each)",
    "copy": "import shutil\nshutil.copy('{}', '/tmp/x')",
    "read_files": "spark.sql(\"SELECT * FROM read_files('{}', format => 'json')\")",
    "copy into": "spark.sql(\"COPY INTO t FROM '{}' FILEFORMAT = CSV\")",
    "format": "spark.sql('SELECT * FROM csv.`{}`')",
    "location": "spark.sql(\"CREATE TABLE t USING csv LOCATION '{}'\")",
    "binary": "spark.sql(\"CREATE TABLE t USING binaryFile LOCATION '{}'\")",
    "path": "spark.sql(\"CREATE TEMPORARY VIEW v USING json OPTIONS (path '{}')\")",
}
_SPELLINGS = {
    "plain": _FILE,
    "scheme": f"dbfs:{_FILE}",
    "slash": f"{_FILE}/",
    "glob": f"{_FILE}/*.json",
}
_WRITERS = {
    "save": "df.write.mode('overwrite').save('{}')",
    "json": "df.write.json('{}')",
    "option": "df.write.option('path', '{}').saveAsTable('t')",
    "stream": "df.writeStream.option('checkpointLocation', '/tmp/c').start('{}')",
    "put": "dbutils.fs.put('{}/a.json', '{{}}', True)",
    "cp": "dbutils.fs.cp('/tmp/x', '{}', recurse=True)",
    "mkdirs": "dbutils.fs.mkdirs('{}')",
    "open": "with open('{}/a.json', 'w') as f:\n    f.write('')",
    "pandas": "frame.to_csv('{}/a.json')",
    "shutil": "import shutil\nshutil.copytree('/tmp/x', '{}')",
    "makedirs": "import os\nos.makedirs('{}', exist_ok=True)",
    "download": "from urllib.request import urlretrieve\nurlretrieve('http://x/y', '{}/a.json')",
    "directory": "spark.sql(\"INSERT OVERWRITE DIRECTORY '{}' USING json SELECT 1\")",
}


@pytest.mark.parametrize("spelling", _SPELLINGS)
@pytest.mark.parametrize("reader", _READERS)
def test_files_that_nothing_writes_are_needed(look: Look, reader: str, spelling: str) -> None:
    finding = look(_READERS[reader].format(_SPELLINGS[spelling])).one("files in /Volumes/main/raw/files")
    assert finding.verdict == "needs_seed"
    assert "--mount /Volumes/main/raw/files=FOLDER" in finding.cure


@pytest.mark.parametrize("where", ["the same", "above", "below"])
@pytest.mark.parametrize("writer", _WRITERS)
def test_files_that_the_repository_writes_are_not_needed(look: Look, writer: str, where: str) -> None:
    read = {"the same": _FILE, "above": "/Volumes/main/raw/files", "below": f"{_FILE}/a.json"}[where]
    found = look({"read.py": f"spark.read.json('dbfs:{read}')", "write.py": _WRITERS[writer].format(_FILE)})
    assert found.of("needs_seed") == []


def test_a_neighbour_that_is_written_does_not_count(look: Look) -> None:
    found = look(f"df.write.json('{_FILE}_clean')\nspark.read.json('{_FILE}')")
    assert found.of("needs_seed") == ["files in /Volumes/main/raw/files"]


@pytest.mark.parametrize(
    "code",
    [
        "spark.read.json('{}/a')\nBASE = '{}'\ndf.write.json(BASE + name)",
        "spark.read.json('{}/a')\nPLACES = {{'x': '{}'}}\ndf.write.json(PLACES[key])",
        "spark.read.json(path)\n",
        "open(path).read()",
        "spark.read.json('/tmp/orders')",
        "spark.read.json('orders')",
        "SCHEMAS = '{}'",
    ],
)
def test_what_only_a_run_knows_is_not_reported(look: Look, code: str) -> None:
    assert look(code.format(_FILE, _FILE)).of("needs_seed") == []


def test_a_write_that_only_a_run_knows_writes_no_path_that_the_code_names_nowhere_else(look: Look) -> None:
    found = look(f"RAW = '{_FILE}'\nspark.read.json(RAW)\nfor name in names:\n    df.write.json(name)")
    assert found.of("needs_seed") == ["files in /Volumes/main/raw/files"]


@pytest.mark.parametrize(
    ("path", "construct"),
    [
        ("/mnt/lake/orders", "files in /mnt/lake"),
        ("dbfs:/mnt/lake/orders", "files in /mnt/lake"),
        ("/dbfs/mnt/lake/orders", "files in /mnt/lake"),
        ("/FileStore/tables/orders.csv", "files in /FileStore/tables"),
    ],
)
def test_other_roots_have_their_own_mount(look: Look, path: str, construct: str) -> None:
    assert construct in look(f"spark.read.csv('{path}')").of("needs_seed")


def test_files_of_a_mount_or_of_the_lakehouse_are_there(look: Look, tmp_path: Path) -> None:
    code = f"spark.read.json('{_FILE}')"
    mounts = '[tool.lakeward.mounts]\n"/Volumes/main/raw/files" = "data"\n'
    assert look({"job.py": code, "pyproject.toml": mounts}).of("needs_seed") == []
    (tmp_path / "pyproject.toml").unlink()
    assert look(code).of("needs_seed") == ["files in /Volumes/main/raw/files"]
    (tmp_path / ".lakeward/local/volumes/main/raw/files/orders").mkdir(parents=True)
    assert check(tmp_path, environ={}).of("needs_seed") == ()


@pytest.mark.parametrize(
    ("task", "named"),
    [
        ("notebook_task: {notebook_path: src/gone.py}", "src/gone.py"),
        ("spark_python_task: {python_file: src/gone.py}, environment_key: e", "src/gone.py"),
    ],
)
def test_a_task_whose_file_is_not_there_is_refused(look: Look, task: str, named: str) -> None:
    bundle = (
        "bundle: {name: b}\nresources:\n  jobs:\n    j:\n      tasks:\n        - {task_key: a, "
        + task
        + "}\n"
    )
    found = look({"databricks.yml": bundle}).report.of("refused")
    (finding,) = [each for each in found if each.construct != "bundle rule environment-unknown"]
    assert named in finding.cure
    assert "does not exist" in finding.cure
