"""`udf` and `udtf` take the settings of the notebook that calls them, also where another notebook runs it."""

from __future__ import annotations

import pytest

from tests.notebooks.conftest import Desk

# How a function is made: code that leaves it in `made`.
UDFS = {
    "call": "made = udf(lambda x: 1.7, 'int')",
    "decorator": "@udf\ndef made(x):\n    return 1.7",
    "decorator with a type": "@udf('int')\ndef made(x):\n    return 1.7",
    "keyword": "made = udf(lambda x: 1.7, returnType='int')",
}
CLASS = "class Rows:\n    def eval(self, x: int):\n        yield x,\n\n"
UDTFS = {
    "call": CLASS + "made = udtf(Rows, returnType='x int')",
    "decorator": "@udtf(returnType='x int')\n" + CLASS + "made = Rows",
}
HEAD = "# Databricks notebook source\nfrom pyspark.sql.functions import udf, udtf\n"
# The numbers of pyspark.util.PythonEvalType.
KINDS = {"UDF": {"false": 100, "true": 101}, "UDTF": {"false": 300, "true": 301}}
CASES = [
    *(("UDF", spelling, code) for spelling, code in UDFS.items()),
    *(("UDTF", spelling, code) for spelling, code in UDTFS.items()),
]


@pytest.mark.parametrize("place", ["notebook", "child", "child in a thread"])
@pytest.mark.parametrize(("kind", "spelling", "code"), CASES, ids=[f"{k} {s}" for k, s, _ in CASES])
def test_the_setting_of_the_own_session_decides(
    desk: Desk, place: str, kind: str, spelling: str, code: str
) -> None:
    key = f"spark.sql.execution.python{kind}.arrow.enabled"
    cells = [HEAD, "found = []"]
    for value in ("false", "true", "false"):
        cells += [f"spark.conf.set('{key}', '{value}')", code, "found.append(made.evalType)"]
    cells += [f"spark.conf.unset('{key}')", "dbutils.notebook.exit(str(found))"]
    own = desk.file("own.py", "\n".join(cells))
    run_own = "dbutils.notebook.run('./own', 0)"
    parents = {
        "child": f"value = {run_own}",
        "child in a thread": "from concurrent.futures import ThreadPoolExecutor\n"
        f"value = list(ThreadPoolExecutor(1).map(lambda _: {run_own}, [0]))[0]",
    }
    if place != "notebook":
        own = desk.file("parent.py", f"{HEAD}{parents[place]}\ndbutils.notebook.exit(value)")
    kinds = KINDS[kind]
    assert desk.done(own).exit_value == str([kinds["false"], kinds["true"], kinds["false"]])


def test_results_are_those_of_the_setting(desk: Desk) -> None:
    """A number with a fraction is no INT for pickled functions; Arrow casts it."""
    rows = "spark.range(1).select(made('id')).first()[0]"
    cells = [HEAD, "found = []"]
    for value in ("false", "true"):
        setting = f"spark.conf.set('spark.sql.execution.pythonUDF.arrow.enabled', '{value}')"
        cells += [setting, UDFS["call"], f"found.append({rows})"]
    desk.file("own.py", "\n".join([*cells, "dbutils.notebook.exit(str(found))"]))
    parent = desk.file("parent.py", HEAD + "dbutils.notebook.exit(dbutils.notebook.run('./own', 0))")
    assert desk.done(parent).exit_value == "[None, 1]"
