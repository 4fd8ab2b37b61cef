"""An empty schema for each test."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from lakeward.session import ensure_catalog


@pytest.fixture
def schema(spark: SparkSession) -> Iterator[str]:
    ensure_catalog(spark, "main")
    name = f"main.s_{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE SCHEMA {name}")
    yield name
    spark.sql(f"DROP SCHEMA {name} CASCADE")
