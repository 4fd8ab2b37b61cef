"""An empty schema for each test."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from lakeward.session import ensure_catalog


@pytest.fixture
def generated_code(spark: SparkSession) -> Iterator[None]:
    """Spark's interpreter (see tests/lanes.py) cannot build the rows of listings of `spark.catalog`."""
    key = "spark.sql.codegen.factoryMode"
    before = spark.conf.get(key, "FALLBACK")
    spark.conf.set(key, "FALLBACK")
    yield
    spark.conf.set(key, str(before))


@pytest.fixture
def schema(spark: SparkSession) -> Iterator[str]:
    ensure_catalog(spark, "main")
    name = f"main.s_{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE SCHEMA {name}")
    yield name
    spark.sql(f"DROP SCHEMA {name} CASCADE")
