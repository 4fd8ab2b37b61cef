"""Inputs of loops that are no list."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from lakeward.errors import ConfigurationError
from lakeward.jobs.nested_runs import loop_inputs


@pytest.mark.parametrize("inputs", ["", "{}", '"x"', "1", "[1", "[" * 100_000, '[{"a":' * 100_000, None, 5])
def test_inputs_that_are_no_list_are_named(inputs: object) -> None:
    task: Any = SimpleNamespace(key="l", spec={"inputs": inputs})
    with pytest.raises(ConfigurationError, match="The inputs of the loop `l`") as raised:
        loop_inputs(task)
    assert raised.value.condition == "TASK_INVALID"
    assert len(str(raised.value)) < 1000
