"""`from pyspark.sql.functions import *` gives the names of the platform, wherever code runs."""

from __future__ import annotations

import builtins
import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakeward.session.patches.star_import_patch import PLATFORM_NAMES

pytestmark = pytest.mark.filterwarnings("ignore:Deprecated:FutureWarning")

STAR = "from pyspark.sql.functions import *"
# An expression that code writes after the star import → its value in the one row (7, 7.0).
EXPRESSIONS = {
    "countDistinct('i')": 1,
    "countDistinct('i', 'd')": 1,
    "approxCountDistinct('i')": 1,
    "sumDistinct('i')": 7,
    "bitwiseNOT('i')": -8,
    "shiftLeft('i', 1)": 14,
    "shiftRight('i', 1)": 3,
    "shiftRightUnsigned('i', 1)": 3,
    "round(toDegrees('d'), 1)": 401.1,
    "round(toRadians('d'), 3)": 0.122,
    "udf(lambda x: str(x), StringType())('i')": "7",
    "col('i').cast(StringType())": "7",
    "array('i').cast(ArrayType(StringType()))": ["7"],
}


def _star() -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(STAR, names)  # a star import is allowed at module level alone
    return names


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_names_of_the_platform_need_no_other_import(spark: SparkSession, expression: str) -> None:
    rows = spark.createDataFrame([(7, 7.0)], "i int, d double").select(eval(expression, _star())).collect()
    assert [row[0] for row in rows] == [EXPRESSIONS[expression]]


def test_classes_are_those_of_their_modules(spark: SparkSession) -> None:
    found = _star()
    assert found["DataFrame"] is DataFrame
    assert isinstance(F.lit(1), found["Column"])
    assert isinstance(spark.range(1).schema, found["StructType"])


def test_names_that_hide_other_names_stay_out(spark: SparkSession) -> None:
    """The platform leaves `chr`, `random` and `uuid` out, too: they are names of Python."""
    found = _star()
    assert not {"chr", "random", "uuid"} & found.keys()
    assert spark.range(1).count() == 1 and builtins.chr(65) == "A"


def test_each_name_is_listed_once(spark: SparkSession) -> None:
    assert spark is not None
    assert len(F.__all__) == len(set(F.__all__))
    assert set(PLATFORM_NAMES) <= set(F.__all__)
    assert isinstance(F, ModuleType) and all(hasattr(F, name) for name in F.__all__)


@pytest.mark.process
def test_modules_that_are_imported_before_a_session_have_them_and_uninstalling_restores_the_list() -> None:
    code = f"""\
from lakeward.session import install_builder_hook, uninstall_builder_hook
install_builder_hook()
install_builder_hook()
names = {{}}
exec({STAR!r}, names)
print(sorted(set({PLATFORM_NAMES!r}) - names.keys()))
uninstall_builder_hook()
import pyspark.sql.functions as F
print(sorted(set({PLATFORM_NAMES!r}) & set(F.__all__)), hasattr(F, "DataFrame"))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.split("\n")[:2] == ["[]", "[] False"], done.stderr
