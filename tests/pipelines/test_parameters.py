"""The declared table of the pipeline API is what the functions of the API really do."""

from __future__ import annotations

import inspect
import logging

import pytest

from lakeward.errors import PipelineError
from lakeward.pipelines import FUNCTIONS, Function, Parameter, function
from lakeward.pipelines.api.modules import API
from lakeward.pipelines.api.registry import GraphRegistry, register_into
from lakeward.pipelines.graph.elements import DefaultSchema

# Takes what its two meanings take, and hands it on to the one that is meant.
BOUND = [row for row in FUNCTIONS if row.name not in ("create_table", "read", "read_stream")]


def rows(verdict: str) -> list[tuple[Function, Parameter]]:
    return [
        (row, parameter)
        for row in BOUND
        for parameter in row.parameters
        if parameter.verdict == verdict and not parameter.required
    ]


def call(row: Function, parameter: Parameter, value: object) -> GraphRegistry:
    registry = GraphRegistry(DefaultSchema("main", "default"))
    needed = {each.name: "t" for each in row.parameters if each.required}
    with register_into(registry):
        API[row.name](**{**needed, parameter.name: value})
    return registry


def test_the_modules_serve_every_declared_name_and_no_other() -> None:
    assert sorted(API) == sorted(name for row in FUNCTIONS for name in row.names)
    assert function("apply_changes") is function("create_auto_cdc_flow") and function("unknown") is None


@pytest.mark.parametrize("row", BOUND, ids=lambda row: row.name)
def test_a_function_has_the_parameters_of_its_row(row: Function) -> None:
    has = inspect.signature(API[row.name]).parameters
    assert list(has) == [parameter.name for parameter in row.parameters]
    assert [name for name, each in has.items() if each.default is each.empty] == [
        parameter.name for parameter in row.parameters if parameter.required
    ]


@pytest.mark.parametrize(("row", "parameter"), rows("accepted"), ids=lambda each: each.name)
def test_what_does_nothing_here_is_taken_with_one_warning(
    row: Function, parameter: Parameter, caplog: pytest.LogCaptureFixture
) -> None:
    value = {"a": "b"} if parameter.name == "spark_conf" else True
    with caplog.at_level(logging.WARNING, logger="lakeward.pipelines"):
        call(row, parameter, value)
    (record,) = caplog.records
    assert f"{row.name}({parameter.name}=…) has no effect here" in record.getMessage()


@pytest.mark.parametrize(("row", "parameter"), rows("refused"), ids=lambda each: each.name)
def test_what_is_refused_is_refused_by_name(row: Function, parameter: Parameter) -> None:
    with pytest.raises(PipelineError, match=rf"{row.name}\({parameter.name}=…\)") as caught:
        call(row, parameter, "something")
    assert caught.value.condition == "NOT_SUPPORTED"
    call(row, parameter, parameter.default)


CONVERTED = [
    (row, parameter)
    for row in BOUND
    for parameter in row.parameters
    if parameter.convert is not Parameter("x").convert and parameter.name != "path"
]


@pytest.mark.parametrize(("row", "parameter"), CONVERTED, ids=lambda each: each.name)
def test_a_value_of_the_wrong_type_is_named_with_its_function_and_parameter(
    row: Function, parameter: Parameter
) -> None:
    """The conversion is declared with the parameter, so it holds in every function that has it."""
    with pytest.raises(
        (TypeError, PipelineError), match=rf"^{row.name}\({parameter.name}=…\)|INVALID_REFRESH"
    ):
        call(row, parameter, [1])
    assert parameter.convert("f(x=…)", None) in ({}, (), None, "auto")


def test_a_format_is_delta_in_any_case() -> None:
    parameter = function("table").parameter("format")  # type: ignore[union-attr]
    assert not parameter.is_given("DELTA") and parameter.is_given("parquet")
