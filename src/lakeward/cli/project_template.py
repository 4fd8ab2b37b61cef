"""The bundle that `lakeward init` writes, as texts by their paths: a pipeline, a job, a test, a workflow."""

from __future__ import annotations

import re

from lakeward.cli.type_stubs import editor_files

_BUNDLE = """\
# Which workspace it goes to is not said here: DATABRICKS_HOST, or a profile, decides.
bundle:
  name: @NAME@

include:
  - resources/*.yml

variables:
  catalog:
    description: Catalog of all tables; dev and prod never share one.
    default: dev

sync:
  exclude:
    - tests/**
    - .github/**

targets:
  dev:
    mode: development
    default: true
  prod:
    mode: production
    workspace:
      root_path: /Workspace/Shared/.bundle/${bundle.name}/${bundle.target}
    variables:
      catalog: prod
"""
_SCHEMA = """\
resources:
  schemas:
    @NAME@_schema:
      catalog_name: ${var.catalog}
      name: @NAME@
"""
_PIPELINE = """\
# Every source file below src/pipeline, one dataset a function.
resources:
  pipelines:
    @NAME@:
      name: @NAME@
      catalog: ${var.catalog}
      schema: ${resources.schemas.@NAME@_schema.name}
      serverless: true
      root_path: ../src
      libraries:
        - glob:
            include: ../src/pipeline/**
"""
_JOB = """\
resources:
  jobs:
    daily:
      name: @NAME@ daily
      schedule:
        quartz_cron_expression: 0 30 5 * * ?
        timezone_id: Etc/UTC
      timeout_seconds: 3600
      tasks:
        - task_key: refresh
          pipeline_task:
            pipeline_id: ${resources.pipelines.@NAME@.id}
"""
_SOURCE = '''\
"""From raw readings to an average a day. `spark` is there without an import, as on Databricks."""

from pyspark import pipelines as dp
from pyspark.sql import functions as F


@dp.materialized_view
def readings():
    """Made up here; in a real bundle `spark.readStream.format("cloudFiles")…` replaces it."""
    days = F.expr("date_add(DATE'2026-01-01', CAST(id % 7 AS INT))")
    return spark.range(70).select(days.alias("day"), (F.col("id") % 30).alias("value"))


@dp.materialized_view
@dp.expect_or_fail("a day has readings", "readings > 0")
def averages():
    """One row a day."""
    by_day = spark.read.table("readings").groupBy("day")
    return by_day.agg(F.count("*").alias("readings"), F.avg("value").alias("average"))
'''
_TEST = '''\
"""The pipeline on a lakehouse of its own that is empty at first."""

from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "src/pipeline"


def test_every_day_has_an_average(lakehouse):
    lakehouse.run(SOURCES)
    rows = lakehouse.table("averages").orderBy("day").collect()
    assert [row["readings"] for row in rows] == [10] * 7
'''
_WORKFLOW = """\
name: ci
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: astral-sh/setup-uv@v6
      - run: uvx lakeward bundle validate --strict
      - run: uvx lakeward test
"""
_PYPROJECT = """\
[project]
name = "@DIST@"
version = "0.1.0"
requires-python = ">=3.10"

[dependency-groups]
dev = ["lakeward", "pytest>=8"]

[tool.pytest.ini_options]
testpaths = ["tests"]
"""
_IGNORED = ".databricks/\n.lakeward/\n.venv/\n__pycache__/\ndist/\n"
_README = """\
# @NAME@

```sh
lakeward bundle validate      # what a deployment would refuse
lakeward run daily            # the job, on this machine
lakeward sql -e "SELECT * FROM averages"
pytest                        # the pipeline, on a lakehouse of its own
databricks bundle deploy      # to a workspace
```
"""


def bundle_name(text: str) -> str:
    """Return a name for bundle, schema and pipeline made of `text`: small letters, digits and `_`.

    >>> bundle_name("My Lake-House")
    'my_lake_house'
    """
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    return name if name[:1].isalpha() else f"lake_{name}".rstrip("_")


def template_files(name: str) -> dict[str, str]:
    """Return the files of a new bundle called `name` (from `bundle_name`), by their paths in its folder."""
    texts = {
        "databricks.yml": _BUNDLE,
        f"resources/{name}.schema.yml": _SCHEMA,
        f"resources/{name}.pipeline.yml": _PIPELINE,
        "resources/daily.job.yml": _JOB,
        "src/pipeline/averages.py": _SOURCE,
        "tests/test_pipeline.py": _TEST,
        ".github/workflows/ci.yml": _WORKFLOW,
        "pyproject.toml": _PYPROJECT,
        ".gitignore": _IGNORED,
        "README.md": _README,
    }
    filled = {
        path: text.replace("@NAME@", name).replace("@DIST@", name.replace("_", "-"))
        for path, text in texts.items()
    }
    return filled | editor_files()
