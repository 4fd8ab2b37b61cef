"""NumPy values as literals and as arguments of Java methods, without NumPy where nobody uses it.

PySpark asks of every literal and of every argument of every call whether it is NumPy's. To ask, it imports
its own test package, and with that pandas, unittest and all that pandas brings: half a second of every new
process.
"""

from __future__ import annotations

import inspect
import sys
from typing import Any

from lakeward.session import patches

__all__ = ["install"]

_ASKED = "lakeward.session.loaded_numpy"
_WHY = "a value is not NumPy's where NumPy was never imported"


def install() -> None:
    """Let PySpark tell NumPy's values by the NumPy that this process has imported, and import none."""
    from pyspark.sql.functions.builtin import lit
    from pyspark.sql.types import NumpyArrayConverter, NumpyScalarConverter

    # A function around it would be shown as the place of the user's mistakes; its code is PySpark's still.
    plain: Any = inspect.unwrap(lit)
    code = patches.original(plain, "__code__")
    names = tuple(_ASKED if name == "pyspark.testing.utils" else name for name in code.co_names)
    patches.replace(plain, "__code__", code.replace(co_names=names), why=_WHY)
    patches.replace(NumpyScalarConverter, "can_convert", _is_scalar, why=_WHY)
    patches.replace(NumpyArrayConverter, "can_convert", _is_row, why=_WHY)


def _is_scalar(_converter: object, value: Any) -> bool:
    scalar = getattr(sys.modules.get("numpy"), "generic", None)
    return scalar is not None and isinstance(value, scalar)


def _is_row(_converter: object, value: Any) -> bool:
    array = getattr(sys.modules.get("numpy"), "ndarray", None)
    return array is not None and isinstance(value, array) and value.ndim == 1
