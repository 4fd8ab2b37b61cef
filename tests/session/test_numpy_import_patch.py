"""NumPy values reach Java as with PySpark alone; a process without them imports no NumPy and no pandas."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VALUES = [
    np.int32(3),
    np.float64(1.5),
    np.str_("a"),
    np.array([1, 2]),
    np.array([[1], [2]]),
    3,
    "a",
    [1],
    None,
]


def run(program: str) -> Any:
    """The JSON that a program prints after it has installed the patch."""
    start = (
        "import json, sys\n"
        "from lakeward.session.patches.numpy_import_patch import install_numpy_import_patch\n"
        "install_numpy_import_patch()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", start + program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_numpy_values_are_recognized(value: object) -> None:
    from pyspark.sql.types import NumpyArrayConverter, NumpyScalarConverter

    assert NumpyScalarConverter().can_convert(value) == isinstance(value, np.generic)
    assert NumpyArrayConverter().can_convert(value) == (isinstance(value, np.ndarray) and value.ndim == 1)


def test_numpy_values_are_literals_and_arrays_of_a_query(spark: SparkSession) -> None:
    from pyspark.sql import functions as F

    row = spark.range(1).select(F.lit(np.int64(7)), F.lit(np.float32(0.5)), F.lit(np.array([1, 2]))).first()
    assert row is not None
    assert tuple(row) == (7, 0.5, [1, 2])


def test_the_function_lit_is_pysparks_own(spark: SparkSession) -> None:
    from pyspark.sql import functions as F

    plain = inspect.unwrap(F.lit)
    # The code is unchanged: Spark shows the first frame outside of PySpark as the place of a mistake.
    assert plain.__code__.co_filename == inspect.unwrap(F.col).__code__.co_filename
    assert "pyspark.testing.utils" in plain.__code__.co_names
    assert spark.range(1).select(F.lit("a"), F.lit([1, 2]), F.lit(None)).first() == ("a", [1, 2], None)


def test_a_value_is_converted_without_an_import_of_numpy() -> None:
    assert run(
        "from pyspark.sql.types import NumpyArrayConverter, NumpyScalarConverter\n"
        "found = [NumpyScalarConverter().can_convert('a'), NumpyArrayConverter().can_convert([1])]\n"
        "heavy = {'numpy', 'pandas', 'unittest'} & set(sys.modules)\n"
        "print(json.dumps([found, sorted(heavy)]))"
    ) == [[False, False], []]


def test_numpy_imported_later_is_recognized() -> None:
    assert run(
        "from pyspark.sql.types import NumpyScalarConverter\n"
        "found = [NumpyScalarConverter().can_convert('a')]\n"
        "import numpy\n"
        "print(json.dumps([*found, NumpyScalarConverter().can_convert(numpy.int32(1))]))"
    ) == [False, True]


@pytest.mark.parametrize(
    "statement",
    [
        "from pyspark.testing import assertDataFrameEqual as found",
        "from pyspark.testing.utils import assertDataFrameEqual as found",
        "import pyspark.testing as m; found = m.assertDataFrameEqual",
        "import pyspark.testing.utils as m; found = m.assertDataFrameEqual",
        "import pyspark.testing as m; dir(m); found = vars(m)['assertDataFrameEqual']",
        "from pyspark.testing.utils import have_numpy as _, assertDataFrameEqual as found",
    ],
)
def test_the_test_package_is_complete_when_it_is_used(statement: str) -> None:
    program = (
        f"{statement}\nimport inspect\nprint(json.dumps([found.__name__, inspect.getsource(found)[:25]]))"
    )
    name, source = run(program)
    assert (name, source) == ("assertDataFrameEqual", "def assertDataFrameEqual(")
