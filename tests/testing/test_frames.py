"""Assertions on real frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lakeward.testing import assert_frame_equal, assert_schema_equal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_equal_frames_pass_whatever_the_order_and_the_nullability(spark: SparkSession) -> None:
    actual = spark.range(3).toDF("id")
    expected = spark.createDataFrame([(2,), (0,), (1,)], "id bigint")
    assert_frame_equal(actual, expected)
    with pytest.raises(AssertionError, match="3 rows, expected 3"):
        assert_frame_equal(actual, expected, ordered=True)


def test_rows_may_stand_for_the_expected_frame(spark: SparkSession) -> None:
    actual = spark.createDataFrame([(1, "a"), (2, None)], "id bigint, name string")
    assert_frame_equal(actual, [(2, None), (1, "a")])
    assert_frame_equal(actual, [{"id": 1, "name": "a"}, {"id": 2}])
    with pytest.raises(AssertionError) as failure:
        assert_frame_equal(actual, [(1, "b"), (2, None)])
    assert "name" in str(failure.value)
    assert "'a'" in str(failure.value)
    assert "'b'" in str(failure.value)


def test_another_type_is_a_difference_unless_types_are_not_requested(spark: SparkSession) -> None:
    actual = spark.createDataFrame([(1,)], "id int")
    expected = spark.createDataFrame([(1,)], "id bigint")
    with pytest.raises(AssertionError, match=r"id\s+int\s+bigint\s+differs"):
        assert_frame_equal(actual, expected)
    assert_frame_equal(actual, expected, check_types=False)


def test_floats_within_the_tolerance_pass(spark: SparkSession) -> None:
    actual = spark.createDataFrame([(0.1 + 0.2, [1.0])], "a double, b array<double>")
    with pytest.raises(AssertionError):
        assert_frame_equal(actual, [(0.3, [1.0])])
    assert_frame_equal(actual, [(0.3, [1.0])], rtol=1e-9)


def test_schemas_may_be_given_as_ddl(spark: SparkSession) -> None:
    frame = spark.range(1)
    assert_schema_equal(frame, "id bigint")
    with pytest.raises(AssertionError, match=r"name\s+\(none\)\s+string\s+missing"):
        assert_schema_equal(frame.schema, "id bigint, name string")
    with pytest.raises(AssertionError, match="another order"):
        assert_schema_equal(frame.selectExpr("1 as a", "id"), "id bigint, a int")
    with pytest.raises(AssertionError, match="not null"):
        assert_schema_equal(frame, "id bigint", check_nullable=True)
