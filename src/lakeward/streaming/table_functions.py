"""`read_kafka`, `read_statestore` and `read_state_metadata`: Spark's formats as relations of SQL.

Sources: https://docs.databricks.com/aws/en/sql/language-manual/functions/read_kafka, read_statestore and
read_state_metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.spark_internals import java_frame
from lakeward.sql import register_function, wrong_argument_count

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Spark's names of the options that have others in `read_kafka`; clients' settings begin with `kafka.`.
_KAFKA_OPTIONS = {"bootstrapservers": "kafka.bootstrap.servers"}
_STATE_OPTIONS = (
    "batchId",
    "operatorId",
    "storeName",
    "joinSide",
    "snapshotStartBatchId",
    "snapshotPartitionId",
)


def register_table_functions() -> None:
    """Register the functions with SQL sessions of this process."""
    register_function("read_kafka", _read_kafka)
    register_function("stream_read_kafka", _stream_kafka)
    for name, format_name in (("read_statestore", "statestore"), ("read_state_metadata", "state-metadata")):
        register_function(name, _state_reader(name, format_name))
        register_function(f"stream_{name}", _refuse_stream(name))


def _read_kafka(spark: SparkSession, *, positional: list[Any], named: Mapping[str, Any]) -> Any:
    return _kafka(spark.read, positional, named)


def _stream_kafka(spark: SparkSession, *, positional: list[Any], named: Mapping[str, Any]) -> Any:
    return _kafka(spark.readStream, positional, named)


def _kafka(reader: Any, positional: list[Any], named: Mapping[str, Any]) -> Any:
    if positional:
        raise wrong_argument_count("`read_kafka`", "0 positional", len(positional))
    options = {_KAFKA_OPTIONS.get(key.lower(), key): value for key, value in named.items()}
    try:
        return java_frame(reader.format("kafka").options(**options).load())
    except Exception as error:
        if "data source: kafka" not in str(error):
            raise
        raise SqlError(
            "UNSUPPORTED_SQL",
            "The function read_kafka needs Spark's connector for Kafka, which is not in this session.",
            sql_state="0A000",
            next_step="Add org.apache.spark:spark-sql-kafka-0-10_2.13 to spark.jars.packages, or read a "
            "table with such rows.",
        ) from None


def _state_reader(name: str, format_name: str) -> Any:
    def read(spark: SparkSession, *, positional: list[Any], named: Mapping[str, Any]) -> Any:
        given = {key.lower(): value for key, value in named.items()}
        paths = [*positional, *([given.pop("path")] if "path" in given else [])]
        if len(paths) != 1:
            raise wrong_argument_count(f"`{name}`", "1", len(paths))
        known = {option.lower(): option for option in _STATE_OPTIONS}
        options = {known.get(key, key): value for key, value in given.items()}
        return java_frame(spark.read.format(format_name).options(**options).load(paths[0]))

    return read


def _refuse_stream(name: str) -> Any:
    def refuse(spark: SparkSession, *, positional: list[Any], named: Mapping[str, Any]) -> Any:
        del spark, positional, named
        raise SqlError(
            "UNSUPPORTED_SQL",
            f"STREAM {name}(…): the state of a stream is no stream. Remove STREAM.",
            sql_state="0A000",
        )

    return refuse
