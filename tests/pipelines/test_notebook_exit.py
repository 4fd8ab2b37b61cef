"""`dbutils.notebook.exit` ends the source that calls it; the update continues."""

from __future__ import annotations

import pytest

from tests.pipelines.conftest import Lab

TABLE = """
        from pyspark import pipelines as dp

        @dp.table
        def NAME():
            return spark.range(1)
"""


@pytest.mark.parametrize("form", ["notebook", "file", "included"])
def test_exit_ends_the_source_and_not_the_update(lab: Lab, form: str) -> None:
    before, after = TABLE.replace("NAME", "early"), TABLE.replace("NAME", "late")
    if form == "file":
        lab.file("a.py", f'{before}\n        dbutils.notebook.exit("done")\n{after}')
    else:
        first = (
            "# MAGIC %run ../parts/b\n"
            if form == "included"
            else f'{before}\n\n        # COMMAND ----------\n\n        dbutils.notebook.exit("done")\n'
        )
        text = f"        # Databricks notebook source\n        {first}\n        # COMMAND ----------\n{after}"
        lab.file("a.py", text)
    if form == "included":
        included = f'        # Databricks notebook source\n{before}\n        dbutils.notebook.exit("done")\n'
        lab.file("../parts/b.py", included)
    lab.file("c.py", TABLE.replace("NAME", "other"))
    lab.done()
    assert lab.tables() == {"early", "other"}
