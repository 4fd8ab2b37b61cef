"""The caller's line of a column expression is the one that PySpark finds."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pyspark.errors.utils
import pytest
from pyspark.errors import ArithmeticException
from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Capture = Callable[[int], str]


def called_by_pyspark(capture: Capture, depth: int) -> str:
    """Call it from a frame in PySpark's folder, as PySpark's decorator does."""
    namespace: dict[str, Any] = {"capture": capture}
    exec(compile("def call(depth): return capture(depth)", pyspark.errors.utils.__file__, "exec"), namespace)
    return str(namespace["call"](depth))


@pytest.mark.parametrize("depth", [1, 2, 3, 1000])
@pytest.mark.parametrize("in_notebook", [False, True])
def test_the_lines_are_those_of_pyspark(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, depth: int, in_notebook: bool
) -> None:
    assert spark.version
    if in_notebook:
        shell, kernel = ModuleType("IPython"), ModuleType("ipykernel")
        shell.__file__, kernel.__file__ = "/opt/IPython/__init__.py", inspect.getfile(pytest)
        shell.get_ipython = lambda: type("Shell", (), {"execution_count": 7})  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "IPython", shell)
        monkeypatch.setitem(sys.modules, "ipykernel", kernel)
    captures = (
        pyspark.errors.utils._capture_call_site,
        inspect.unwrap(pyspark.errors.utils._capture_call_site),
    )
    ours, pysparks = [called_by_pyspark(capture, depth).split("\n") for capture in captures]
    assert captures[0] is not captures[1]
    assert ours == pysparks
    assert any("in cell [7]" in line for line in ours) == in_notebook


def test_an_error_names_the_line_of_the_expression(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    # PySpark keeps the answer of the first expression, which another test made before there was a session.
    monkeypatch.setattr(pyspark.errors.utils, "_enable_debugging_cache", None)
    wrong = F.lit(1) / F.lit(0)
    frame = inspect.currentframe()
    assert frame is not None
    with pytest.raises(ArithmeticException, match=rf"{Path(__file__).name}:{frame.f_lineno - 3}\n"):
        spark.range(1).select(wrong).collect()
