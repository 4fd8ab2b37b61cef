"""Every column list of AUTO CDC accepts every column of the source, in every spelling (SDP-3.1.2)."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException

from lakeward.errors import PipelineError
from lakeward.pipelines.api.flows import parse_change_args
from lakeward.pipelines.autocdc.cdc_schema import CdcSchema
from tests.pipelines.conftest import Lab
from tests.pipelines.test_auto_cdc import DEFAULTS, KEYED, OPTIONS, Bench, fold_second, scenarios

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# `a` is a column and a field as well: a list that names `s.a` must not mean the column.
SOURCE = (
    "id int, a string, b int, `odd name` string, `dot.ted` int, s struct<x: int, a: int>, op string, seq int"
)
TARGET = ["id", "a", "b", "odd name", "dot.ted", "s"]
VALUES = TARGET[1:]
# What a user writes, and the source's column that it means.
SPELLINGS = {
    "in target": ("b", "b"),
    "only in source": ("op", "op"),
    "nowhere": ("zz", None),
    "other case": ("B", "b"),
    "other case, only in source": ("Op", "op"),
    "nested": ("s.a", None),
    "backquoted": ("`odd name`", "odd name"),
    "backquoted, plain name": ("`b`", "b"),
    "backquoted dot": ("`dot.ted`", "dot.ted"),
    "blank": ("odd name", "odd name"),
    "dot": ("dot.ted", "dot.ted"),
}
LISTS = (
    "keys",
    "column_list",
    "except_column_list",
    "track_history_column_list",
    "track_history_except_column_list",
    "ignore_null_updates_column_list",
    "ignore_null_updates_except_column_list",
)
ERRORS = {"zz": "AUTOCDC_COLUMNS_NOT_FOUND_IN_SCHEMA", "s.a": "AUTOCDC_MULTIPART_COLUMN_IDENTIFIER"}


def shape_of(source: DataFrame, **options: Any) -> CdcSchema:
    given = {"keys": ["id"], "sequence_by": "seq", "stored_as_scd_type": 2, **options}
    if "column_list" not in given:
        given.setdefault("except_column_list", ["op", "seq"])
    return CdcSchema.of(source, parse_change_args(DEFAULTS | given))


def expected(parameter: str, name: str) -> dict[str, list[str]]:
    """What a list of `name` alone selects; the other columns as without that list."""
    rest = [column for column in VALUES if column != name]
    alone = [name] if name in VALUES else []
    return {
        "keys": {"keys": [name], "columns": TARGET},
        "column_list": {"columns": ["id", name], "tracked": [name]},
        "except_column_list": {"columns": [c for c in [*TARGET, "op", "seq"] if c != name]},
        "track_history_column_list": {"tracked": alone, "columns": TARGET},
        "track_history_except_column_list": {"tracked": rest, "columns": TARGET},
        "ignore_null_updates_column_list": {"optional": alone, "tracked": VALUES},
        "ignore_null_updates_except_column_list": {"optional": rest, "tracked": VALUES},
    }[parameter]


@pytest.fixture
def source(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([], SOURCE)


@pytest.mark.parametrize("parameter", LISTS)
def test_a_list_takes_any_column_of_the_source(source: DataFrame, parameter: str) -> None:
    from pyspark.sql import functions as F

    more = ["id"] if parameter == "column_list" else []
    for (text, name), make in itertools.product(SPELLINGS.values(), (str, F.col)):
        if make is F.col and text in ("odd name", "dot.ted"):
            continue  # `col` parses these, and they need backquotes
        options = {parameter: [*more, make(text)]}
        if name is None:
            with pytest.raises((AnalysisException, PipelineError)) as caught:
                shape_of(source, **options)
            error = caught.value
            found = error.condition if isinstance(error, PipelineError) else error.getCondition()
            is_missing_key = parameter == "keys" and text == "zz"
            wanted = "AUTOCDC_KEY_NOT_IN_SELECTED_SCHEMA" if is_missing_key else ERRORS[text]
            assert found == wanted, (text, make)
        elif parameter == "keys" and name not in TARGET:
            with pytest.raises(PipelineError, match=name) as caught:
                shape_of(source, **options)
            assert caught.value.condition == "AUTOCDC_KEY_NOT_IN_SELECTED_SCHEMA"
        else:
            shape = shape_of(source, **options)
            wanted = expected(parameter, name)
            assert {field: list(getattr(shape, field)) for field in wanted} == wanted, (text, make)


@pytest.mark.parametrize("given", ["upper(a)", "a AS c", "*"])
def test_a_list_takes_no_expression(source: DataFrame, given: str) -> None:
    from pyspark.sql import functions as F

    column = F.col(given) if given == "*" else F.expr(given)
    with pytest.raises(PipelineError) as caught:
        shape_of(source, track_history_column_list=[column])
    assert caught.value.condition == "AUTOCDC_NON_COLUMN_IDENTIFIER"


@pytest.mark.parametrize(
    ("options", "condition"),
    [
        ({"keys": ["nope.id"]}, "AUTOCDC_MULTIPART_COLUMN_IDENTIFIER"),
        (
            {"sequence_by": "map(1, seq)", "stored_as_scd_type": 1},
            "AUTOCDC_MICROBATCH_VALIDATION.NON_ORDERABLE_SEQUENCE",
        ),
        ({"keys": ["__START_AT"]}, "AUTOCDC_RESERVED_COLUMN_NAME_PREFIX_CONFLICT"),
        ({"column_list": ["id", "__end_at"]}, "AUTOCDC_RESERVED_COLUMN_NAME_PREFIX_CONFLICT"),
        ({"except_column_list": ["__end_at"]}, "AUTOCDC_RESERVED_COLUMN_NAME_PREFIX_CONFLICT"),
        ({"except_column_list": ["__end_at", "__START_AT"]}, None),
        ({"except_column_list": ["op"], "stored_as_scd_type": 1}, None),
    ],
)
def test_columns_that_no_target_has_have_their_conditions(
    spark: SparkSession, options: dict[str, Any], condition: str | None
) -> None:
    source = spark.createDataFrame([], SOURCE + ", __START_AT int, __END_AT int")
    found = None
    try:
        shape_of(source, **options)
    except PipelineError as error:
        found = error.condition
    assert found == condition


@pytest.mark.parametrize("parameter", ["sequence_by", "apply_as_deletes", "columns_to_update"])
def test_an_expression_takes_any_column_and_field_of_the_source(source: DataFrame, parameter: str) -> None:
    wrapped = {"apply_as_deletes": "{} = 1", "columns_to_update": "array(CAST({} AS STRING))"}
    for text, name in SPELLINGS.values():
        if parameter != "sequence_by" and text in ("odd name", "dot.ted"):
            continue  # SQL text, where these need backquotes
        options = {parameter: wrapped.get(parameter, "{}").format(text)}
        if text == "zz":
            with pytest.raises(AnalysisException, match="zz") as caught:
                shape_of(source, **options).events(source, source.schema)
            assert caught.value.getCondition() == "UNRESOLVED_COLUMN.WITH_SUGGESTION"
        else:
            assert shape_of(source, **options).events(source, source.schema).columns, (text, name)


@pytest.mark.slow
def test_columns_left_out_of_the_target_are_not_tracked(
    spark: SparkSession, lab: Lab, tmp_path: Path
) -> None:
    batches = scenarios(5, examples=20)[:2]
    lists = {"track_history_except_column_list": ["seq", "GONE", "b"]}
    bench = Bench(spark, lab, tmp_path / "t", KEYED, stored_as_scd_type=2, **lists, **OPTIONS)
    for batch in batches:
        bench.take(batch)
    assert bench.rows() == fold_second(batches, [0])
