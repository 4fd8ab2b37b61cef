"""Assertions about the condition of an error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pyspark.errors import PySparkException

from lakeward.session import condition_of


@contextmanager
def failing(condition: str) -> Iterator[pytest.ExceptionInfo[PySparkException]]:
    """Assert that the block raises an error of PySpark with this condition."""
    with pytest.raises(PySparkException) as caught:
        yield caught
    found = condition_of(caught.value)
    assert found == condition, f"{found} instead of {condition}: {caught.value}"
