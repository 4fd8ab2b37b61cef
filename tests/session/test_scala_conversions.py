"""`scala.collection.JavaConversions` exists as on the runtime: up to 16, not after it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from lakeward.dbutils import DBUtils
from lakeward.session.patches import java_names_patch
from lakeward.spark_internals import java_gateway

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def conversions(spark: SparkSession) -> Iterator[Any]:
    """The class, by a view in which no name was looked up; afterwards the runtime is that of the suite."""
    before = java_names_patch._is_served
    yield java_gateway(spark).new_jvm_view().scala.collection.JavaConversions
    java_names_patch._is_served = before


OLD, NEW = ("13.3", "15.4", "16.4"), ("17.3", "18.3", "serverless")


@pytest.mark.parametrize("profile", OLD)
def test_tags_of_the_context_become_a_map(conversions: Any, spark: SparkSession, profile: str) -> None:
    java_names_patch.use_profile(profile)
    context = DBUtils(spark).notebook.entry_point.getDbutils().notebook().getContext()
    tags = conversions.mapAsJavaMap(context.tags())
    assert tags["user"] == context.tags().apply("user")
    assert tags.get("no such tag") is None


@pytest.mark.parametrize("profile", NEW)
def test_runtimes_with_scala_2_13_lack_it(conversions: Any, profile: str) -> None:
    java_names_patch.use_profile(profile)
    with pytest.raises(TypeError, match=r"'JavaPackage' object is not callable.*--runtime 16\.4"):
        conversions.mapAsJavaMap({})


@pytest.mark.parametrize(
    ("there", "back", "value"),
    [
        ("asScalaBuffer", "bufferAsJavaList", [1, 2]),
        ("asScalaBuffer", "seqAsJavaList", ["a"]),
        ("mapAsScalaMap", "mapAsJavaMap", {"a": 1}),
        ("mapAsScalaMap", "mutableMapAsJavaMap", {"a": "b"}),
    ],
)
def test_collections_of_the_jvm_are_converted(conversions: Any, there: str, back: str, value: Any) -> None:
    java_names_patch.use_profile("16.4")
    converted = getattr(conversions, there)(value)
    assert converted.getClass().getName().startswith("scala.collection.")
    assert type(value)(getattr(conversions, back)(converted)) == value


def test_an_unknown_method_is_an_error(conversions: Any) -> None:
    with pytest.raises(AttributeError, match=r"JavaConversions\.mapAsPython does not exist"):
        conversions.mapAsPython({})
