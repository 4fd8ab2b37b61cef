"""The session with the configuration of a pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from lakeward.errors import ConfigurationError
from lakeward.pipelines.spark_settings import settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["configured"]


@contextmanager
def configured(spark: SparkSession, conf: Mapping[str, str]) -> Iterator[None]:
    from pyspark.errors import PySparkException

    with ExitStack() as stack:
        try:
            stack.enter_context(settings(spark, conf))
        except PySparkException as error:
            raise ConfigurationError(
                error.getCondition() or "INVALID_CONFIGURATION",
                f"The pipeline's configuration cannot be applied: {error}",
                next_step="Settings of the Spark application itself belong into the session's configuration.",
            ) from None
        yield
