"""Entry point `protect`: tags on personal columns, and the view in which people see what their groups allow.

Conditions by group are in a view and not in row filters or masks of tables: those apply to the pipeline, too,
and a pipeline whose principal is in no group would compute gold from what it may see, without an error.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pyspark.sql import SparkSession

from wearables.jobs.maintain import tables_of
from wearables.privacy import PERSONAL

__all__ = ["READERS", "TAG", "main", "protect"]

TAG = "personal"
READERS = "people-readers"
"""Group that sees people in clear; members of `region-<state>` see the people of a state, without names."""

_VIEW = """
CREATE OR REPLACE VIEW {schema}.users_redacted AS
SELECT
  k.pseudonym,
  CASE WHEN is_account_group_member('{readers}') THEN u.first_name END AS first_name,
  CASE WHEN is_account_group_member('{readers}') THEN u.last_name END AS last_name,
  CASE WHEN is_account_group_member('{readers}') THEN u.street_address END AS street_address,
  CASE WHEN is_account_group_member('{readers}') THEN CAST(u.zip AS STRING)
       ELSE concat(left(lpad(CAST(u.zip AS STRING), 5, '0'), 2), '***') END AS zip,
  CASE WHEN is_account_group_member('{readers}') THEN u.city END AS city,
  u.state, u.gender, b.age_band
FROM {schema}.users u
JOIN {schema}.user_keys k ON u.user_id = k.user_id
JOIN {schema}.user_bins b ON k.pseudonym = b.pseudonym
WHERE is_account_group_member('{readers}') OR is_account_group_member(concat('region-', u.state))
"""


def main(argv: Sequence[str] | None = None) -> None:
    """Protect the tables in the catalog and schema that the arguments name (`sys.argv` when None)."""
    parser = argparse.ArgumentParser(prog="protect", description=__doc__)
    parser.add_argument("--catalog", required=True)
    parser.add_argument("--schema", required=True)
    given, _ = parser.parse_known_args(argv)
    changed = protect(SparkSession.builder.getOrCreate(), given.catalog, given.schema)
    print(f"tagged {changed} columns as personal")


def protect(spark: SparkSession, catalog: str, schema: str) -> int:
    """Create the redacted view, tag personal columns, and return how many had no tag or another one."""
    place = f"`{catalog}`.`{schema}`"
    spark.sql(_VIEW.format(schema=place, readers=READERS))
    rows = spark.sql(
        "SELECT table_name, column_name, tag_value FROM "  # noqa: S608
        f"`{catalog}`.information_schema.column_tags WHERE schema_name = '{schema}' AND tag_name = '{TAG}'"
    ).collect()
    found = {(row["table_name"], row["column_name"]): row["tag_value"] for row in rows}
    existing = set(tables_of(spark, place))
    wanted = {
        (table, column): tag
        for table, columns in PERSONAL.items()
        for column, tag in columns.items()
        if table in existing
    }
    changed = {key: tag for key, tag in wanted.items() if found.get(key) != tag}
    for (table, column), tag in changed.items():
        spark.sql(f"SET TAG ON COLUMN {place}.`{table}`.`{column}` `{TAG}` = `{tag}`")
    return len(changed)


if __name__ == "__main__":
    main()
