"""NumPy's values reach Java as with PySpark alone; a process without them imports no NumPy and no pandas."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from lakeward.session import numpy_arguments, patches

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


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_what_is_numpys_is_told_as_pyspark_tells_it(value: object) -> None:
    from pyspark.sql.types import NumpyArrayConverter, NumpyScalarConverter

    with patches.temporary():
        numpy_arguments.install()
        for converter in (NumpyScalarConverter, NumpyArrayConverter):
            plain = patches.original(converter, "can_convert")
            assert converter().can_convert(value) == plain(converter(), value)


def test_numpys_values_are_literals_and_arrays_of_a_query(spark: SparkSession) -> None:
    from pyspark.sql import functions as F

    row = spark.range(1).select(F.lit(np.int64(7)), F.lit(np.float32(0.5)), F.lit(np.array([1, 2]))).first()
    assert row is not None
    assert tuple(row) == (7, 0.5, [1, 2])


def test_a_literal_asks_for_loaded_numpy_in_pysparks_own_code(spark: SparkSession) -> None:
    from pyspark.sql import functions as F

    plain = inspect.unwrap(F.lit)
    assert not any(name.startswith("pyspark.testing") for name in plain.__code__.co_names)
    # Spark shows the caller of the first frame that is not its own as the place of a mistake.
    assert plain.__code__.co_filename == inspect.unwrap(F.col).__code__.co_filename
    assert spark.range(1).select(F.lit("a"), F.lit([1, 2]), F.lit(None)).first() == ("a", [1, 2], None)


def test_asking_imports_nothing() -> None:
    program = (
        "import json, sys\n"
        "from lakeward.session import numpy_arguments\n"
        "numpy_arguments.install()\n"
        "from pyspark.sql.types import NumpyArrayConverter, NumpyScalarConverter\n"
        "asked = [NumpyScalarConverter().can_convert('a'), NumpyArrayConverter().can_convert([1])]\n"
        "heavy = {'numpy', 'pandas', 'pyspark.testing'} & set(sys.modules)\n"
        "print(json.dumps([asked, sorted(heavy)]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[False, False], []]
