"""INT arguments of builtin functions take a BIGINT; the calls are the examples of Spark's registry."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakeward.session import condition_of
from lakeward.spark_internals import session_state
from tests.conditions import failing

NUMBER = re.compile(r"(?<![\w.])(?<!\blimit )\d+(?![\w.])", re.IGNORECASE)
QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"[^\"]*\"")
ENDLESS = {"window": "a window of a day that slides by a microsecond is an expression without end"}
NO_ARGUMENTS = {"array_sort": "the result of its lambda function must be an INT"}


def builtin_functions(spark: SparkSession) -> Iterator[tuple[str, str, list[str]]]:
    """Yield name, usage and example queries of every scalar, aggregate, window and table function."""
    state = session_state(spark)
    for registry in (state.functionRegistry(), state.tableFunctionRegistry()):
        names = registry.listFunction()
        for number in range(names.size()):
            info = registry.lookupFunction(names.apply(number)).get()
            examples = re.findall(r"^\s*> (.*?);\s*$", info.getExamples(), re.MULTILINE)
            yield names.apply(number).funcName(), info.getUsage(), examples


def masked(text: str) -> str:
    return QUOTED.sub(lambda quoted: "\0" * len(quoted.group()), text)


def as_bigint(text: str) -> str:
    """Return a query whose INT literals are BIGINT: those outside of strings, intervals and LIMIT."""
    plain = masked(text)
    for number in reversed(list(NUMBER.finditer(plain))):
        text = text[: number.end()] + "L" + text[number.end() :]
    return text


def with_optional_arguments(name: str, usage: str, example: str) -> Iterator[str]:
    """Yield an example with one and two more INT arguments if its function has optional arguments."""
    if name in ENDLESS or not re.search(rf"(?<!\w){re.escape(name)}\([^)]*\[", usage, re.IGNORECASE):
        return
    plain = masked(example)
    call = re.search(rf"(?<![\w.]){re.escape(name)}\(", plain, re.IGNORECASE)
    if call is None:
        return
    depth, end = 1, call.end()
    while depth:
        depth += {"(": 1, ")": -1}.get(plain[end], 0)
        end += 1
    yield example[: end - 1] + ", 1" + example[end - 1 :]
    yield example[: end - 1] + ", 1, 1" + example[end - 1 :]


def failure_of(spark: SparkSession, query: str) -> str | None:
    try:
        spark.sql(query)
    except PySparkException as error:
        return condition_of(error) or str(error)
    return None


@pytest.mark.slow
def test_every_function_that_takes_an_int_takes_a_bigint(spark: SparkSession) -> None:
    refused = {}
    changed = set()
    for name, usage, examples in builtin_functions(spark):
        for example in examples:
            for query in (example, *with_optional_arguments(name, usage, example)):
                wider = as_bigint(query)
                if wider == query or name in NO_ARGUMENTS or re.search(r"interval \d", masked(query), re.I):
                    continue
                changed.add(name)
                failure = failure_of(spark, wider)
                if failure is not None and failure_of(spark, query) is None:
                    refused[wider] = failure
    assert refused == {}
    # The examples were found: Spark has more functions with numbers in them than that.
    assert {"ntile", "stack", "ceil", "lag", "approx_top_k_combine", "date_add", "nth_value"} <= changed
    assert len(changed) > 250


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("ceil(1.2345, {})", "1.24"),
        ("floor(1.2345, {})", "1.23"),
        ("ceiling(1.2345D, {})", "1.24"),
        ("round(1.2345, {})", "1.23"),
        ("ntile({}) OVER (ORDER BY id)", "1"),
        ("lag(id, {}, 7) OVER (ORDER BY id)", "7"),
        ("lead(id, {}, 7) IGNORE NULLS OVER (ORDER BY id)", "7"),
        (
            "nth_value(id, {}) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)",
            "None",
        ),
        ("element_at(array(5, 6), {})", "6"),
        ("array_insert(array(5, 6), {}, 7)[1]", "7"),
        ("approx_percentile(id, 0.5, {})", "0"),
        ("stack({}, 1, 1)", "1"),
    ],
)
@pytest.mark.parametrize("argument", ["2", "2L", "2Y", "CAST(2 AS BIGINT)", "1L + 1", "two", "2.0", "2.5D"])
def test_an_argument_of_another_numeric_type_is_cast(
    spark: SparkSession, call: str, result: str, argument: str
) -> None:
    spark.sql("DECLARE OR REPLACE VARIABLE two BIGINT DEFAULT 2")
    row = spark.sql(f"SELECT {call.format(argument)} AS v FROM range(1)").first()
    assert row is not None
    assert str(row.v) == result


@pytest.mark.parametrize("value", ["1500.5D", "1500.5", "1500L", "1500"])
def test_a_point_in_time_takes_a_double(spark: SparkSession, value: str) -> None:
    calls = (
        f"unix_{unit}(timestamp_{unit}({value})), time_to_{unit}(time_from_{unit}({value}))"
        for unit in ("millis", "micros")
    )
    assert spark.sql(f"SELECT {', '.join(calls)}").first() == (1500, 1500, 1500, 1500)


@pytest.mark.parametrize(
    "call",
    [
        "ceil(1.5, {})",
        "ntile({}) OVER (ORDER BY id)",
        "lag(id, {}) OVER (ORDER BY id)",
        "stack({}, 1)",
        "date_add('2024-01-01', {})",
    ],
)
def test_a_value_out_of_range_is_an_error(spark: SparkSession, call: str) -> None:
    with failing("CAST_OVERFLOW"):
        spark.sql(f"SELECT {call.format('99999999999L')} FROM range(1)").collect()


@pytest.mark.parametrize("frame", ["ROWS BETWEEN 2 PRECEDING AND 2 PRECEDING", "ROWS UNBOUNDED PRECEDING"])
def test_a_frame_of_lag_is_refused(spark: SparkSession, frame: str) -> None:
    with pytest.raises(PySparkException, match="Cannot specify window frame for lag function"):
        spark.sql(f"SELECT lag(id, 1L) OVER (ORDER BY id {frame}) FROM range(2)")
