"""What is said of SQL that the front end leaves to Spark is what a session does with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import PySparkException

from lakeward.sql import PASSTHROUGH_STATEMENTS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_every_phrase_is_parsed_or_refused_as_its_row_says(spark: SparkSession) -> None:
    for name in ("t", "u"):
        spark.sql(f"CREATE OR REPLACE TABLE main.default.{name} (id INT)")
    parser = spark._jsparkSession.sessionState().sqlParser()
    wrong = []
    for phrase in PASSTHROUGH_STATEMENTS:
        try:
            if phrase.verdict != "supported":
                spark.sql(phrase.example).collect()
            else:
                parser.parsePlan(phrase.example)
        except PySparkException:
            if phrase.verdict == "supported":
                wrong.append(phrase.name)
        else:
            if phrase.verdict != "supported":
                wrong.append(phrase.name)
    assert wrong == []


def test_what_is_not_run_as_it_is_says_what_helps() -> None:
    assert [
        phrase.name
        for phrase in PASSTHROUGH_STATEMENTS
        if phrase.verdict != "supported" and not phrase.instead
    ] == []
