"""Entry point `directory`: people by random tokens, with a row filter and column masks.

Tokens are the alternative to keyed pseudonyms: no key computes them, and a person whose row of `user_tokens`
is deleted is a stranger wherever the token is. No pipeline reads the directory: its policies are its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pyspark.sql import SparkSession

from wearables.jobs.protect import READERS

__all__ = ["main", "provide_directory", "tokenize"]

_POLICIES = (
    """CREATE OR REPLACE FUNCTION {schema}.may_see_region(state STRING) RETURNS BOOLEAN
       RETURN is_account_group_member('{readers}') OR is_account_group_member(concat('region-', state))""",
    """CREATE OR REPLACE FUNCTION {schema}.only_for_readers(text STRING) RETURNS STRING
       RETURN CASE WHEN is_account_group_member('{readers}') THEN text END""",
)

_COLUMNS = (
    "token STRING, first_name STRING, last_name STRING, street_address STRING, city STRING, state STRING"
)
_MASKED = ("first_name", "last_name", "street_address", "city")


def main(argv: Sequence[str] | None = None) -> None:
    """Bring the directory in the place that the arguments name up to date (`sys.argv` when None)."""
    parser = argparse.ArgumentParser(prog="directory", description=__doc__)
    for name in ("catalog", "schema"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--existing", action="store_true", help="do nothing where there is no directory")
    given, _ = parser.parse_known_args(argv)
    spark, place = SparkSession.builder.getOrCreate(), f"`{given.catalog}`.`{given.schema}`"
    if given.existing and not spark.catalog.tableExists(f"{place}.user_tokens"):
        print(f"there is no directory in {given.catalog}.{given.schema}")
        return
    added = tokenize(spark, place)
    print(f"{added} new tokens, {provide_directory(spark, place)} people in the directory")


def tokenize(spark: SparkSession, schema: str) -> int:
    """Give each user without a token a random one; returns how many. A token is never given twice."""
    spark.sql(
        f"CREATE TABLE IF NOT EXISTS {schema}.user_tokens (user_id BIGINT, token STRING, "
        "timestamp BIGINT COMMENT 'milliseconds: tokens of before an erasure are erased, later ones stay') "
        "TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '0')"
    )
    users = spark.table(f"{schema}.users").select("user_id")
    new = users.join(spark.table(f"{schema}.user_tokens"), "user_id", "left_anti")
    number = new.count()
    if number:
        drawn = new.selectExpr("user_id", "uuid() AS token", "unix_millis(now()) AS timestamp")
        drawn.write.mode("append").saveAsTable(f"{schema}.user_tokens")
    return number


def provide_directory(spark: SparkSession, schema: str) -> int:
    """Replace the rows of `user_directory`, and create it with its policies; returns the number of people.

    The rows are replaced and the table is not: a table that is created again has no policies until they are
    set, and readers would see people in clear.
    """
    if not spark.catalog.tableExists(f"{schema}.user_directory"):
        spark.sql(
            f"CREATE TABLE {schema}.user_directory ({_COLUMNS}) "
            "TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '0')"
        )
    for function in _POLICIES:
        spark.sql(function.format(schema=schema, readers=READERS))
    table = f"{schema}.user_directory"
    spark.sql(f"ALTER TABLE {table} SET ROW FILTER {schema}.may_see_region ON (state)")
    for column in _MASKED:
        spark.sql(f"ALTER TABLE {table} ALTER COLUMN {column} SET MASK {schema}.only_for_readers")
    rows = spark.table(f"{schema}.users").join(spark.table(f"{schema}.user_tokens"), "user_id")
    people = rows.select("token", *_MASKED, "state")
    people.write.mode("overwrite").insertInto(table)
    return people.count()


if __name__ == "__main__":
    main()
