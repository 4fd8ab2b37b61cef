"""What is said of SQL that the front end leaves to Spark is what a session does with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import PySparkException

from lakeward.sql import PHRASES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_every_phrase_is_parsed_or_refused_as_its_row_says(spark: SparkSession) -> None:
    for name in ("t", "u"):
        spark.sql(f"CREATE OR REPLACE TABLE main.default.{name} (id INT)")
    parser = spark._jsparkSession.sessionState().sqlParser()
    wrong = []
    for phrase in PHRASES:
        try:
            if phrase.verdict != "as is":
                spark.sql(phrase.example).collect()
            else:
                parser.parsePlan(phrase.example)
        except PySparkException:
            if phrase.verdict == "as is":
                wrong.append(phrase.name)
        else:
            if phrase.verdict != "as is":
                wrong.append(phrase.name)
    assert wrong == []


def test_what_is_not_run_as_it_is_says_what_helps() -> None:
    assert [phrase.name for phrase in PHRASES if phrase.verdict != "as is" and not phrase.instead] == []
