"""Private attributes of PySpark are used in one module only."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import lakeward

SOURCE = Path(lakeward.__file__).parent
ADAPTER = "spark_internals.py"
# The JVM objects behind PySpark's (`_jvm`, `_jdf`, `_jsc`, `_jconf` …) and the state of its classes.
PRIVATE = re.compile(
    r"_j(?:vm|df|sparkSession|sc|conf|sq|dict|progress|builder|schema|seq|map|cols?|c|reader|write|catalog|rdd"
    r"|observation|expr|query|cluster|fs|t|dt)"
    r"|_gateway|_sc|_instantiatedSession|_activeSession|_active_spark_context|_ensure_initialized"
    r"|_get_j_spark_session_module"
)


def private_uses(text: str) -> list[tuple[int, str]]:
    """Line and name of every attribute and keyword argument that is private to PySpark."""
    found = []
    for node in ast.walk(ast.parse(text)):
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "arg", None)
        if isinstance(node, (ast.Attribute, ast.keyword)) and name and PRIVATE.fullmatch(name):
            found.append((node.lineno if isinstance(node, ast.Attribute) else node.value.lineno, name))
    return found


def test_only_the_adapter_uses_private_attributes_of_pyspark() -> None:
    found = {
        f"{file.relative_to(SOURCE)}:{line}: {name}"
        for file in SOURCE.rglob("*.py")
        if file.name != ADAPTER
        for line, name in private_uses(file.read_text())
    }
    assert found == set(), "call a function of lakeward.spark_internals instead, or add one"


def test_the_adapter_uses_them_and_every_spelling_is_found() -> None:
    assert len(private_uses((SOURCE / ADAPTER).read_text())) >= 10
    text = "a._jvm; b.c()._jdf.x(); SparkConf(_jconf=z); SparkContext._gateway; self._job"
    assert {name for _, name in private_uses(text)} == {"_jvm", "_jdf", "_jconf", "_gateway"}
