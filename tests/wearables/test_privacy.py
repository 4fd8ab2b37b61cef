"""Every column is classified, personal ones are tagged and protected downstream, groups see what they may."""

from __future__ import annotations

import re

import pytest
from fixtures.generate import generate
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from lakeward.session import Settings, session
from tests.wearables.company import ROOT
from tests.wearables.frames import batch
from wearables import privacy
from wearables.erasure import create_tables
from wearables.jobs.directory import provide_directory, tokenize
from wearables.jobs.protect import READERS, TAG, protect
from wearables.streams import TABLES

SCHEMA = "main.protected"
STORED = ("users", "user_keys", "user_bins", "quarantine")
OTHERS = ("erasure_requests", "suppressed", "erasure_audit", "user_tokens", "user_directory")


@pytest.fixture(scope="module")
def tables(suite_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The columns of all tables; those of `STORED`, of erasure and of the directory are in main.protected."""
    spark = session(suite_settings)
    spark.sql(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    folder = tmp_path_factory.mktemp("scratch")
    generate(folder / "source", users=8, days=1, seed=7, longest=60)
    frames = batch(spark, folder / "source", folder)
    for name in STORED:
        frames[name].write.mode("overwrite").option("overwriteSchema", "true").saveAsTable(f"{SCHEMA}.{name}")
    create_tables(spark, SCHEMA)
    spark.sql(f"DROP TABLE IF EXISTS {SCHEMA}.user_tokens")
    assert tokenize(spark, SCHEMA) == provide_directory(spark, SCHEMA) == frames["users"].count()
    return {
        **{name: frame.columns for name, frame in frames.items()},
        **{name: StructType.fromDDL(columns).names for name, columns in TABLES.items()},
        **{name: spark.table(f"{SCHEMA}.{name}").columns for name in OTHERS},
    }


def test_every_column_of_every_table_is_classified(tables: dict[str, list[str]]) -> None:
    declared = {*privacy.PLAIN, *privacy.PERSONAL}
    assert declared - {"quality_rules"} == set(tables)
    for name, columns in tables.items():
        assert sorted([*privacy.PERSONAL.get(name, {}), *privacy.PLAIN[name]]) == sorted(columns), name


def test_tables_for_analysts_have_no_personal_column() -> None:
    assert [name for name in privacy.ANALYSTS if privacy.PERSONAL.get(name)] == []


def test_every_dataset_has_the_properties_that_keep_personal_values_out_of_logs() -> None:
    for file in (ROOT / "src/wearables/pipelines").glob("*.py"):
        text = file.read_text()
        if file.name not in ("__init__.py", "lookups.py"):
            datasets = len(re.findall(r"@dp\.(?:table|materialized_view)|create_streaming_table\(", text))
            assert text.count("privacy.properties(") == datasets, file.name


def test_no_personal_column_has_statistics(spark: SparkSession) -> None:
    for name in {*privacy.PERSONAL} - {*TABLES, "user_directory"}:
        (column,) = privacy.properties(spark, name)["delta.dataSkippingStatsColumns"].split(",")
        assert column not in privacy.PERSONAL[name], name


def test_columns_are_tagged_once_and_the_view_shows_what_a_group_may_see(
    spark: SparkSession, tables: dict[str, list[str]]
) -> None:
    wanted = {
        (table, column, tag)
        for table in (*STORED, *OTHERS)
        for column, tag in privacy.PERSONAL[table].items()
    }
    assert protect(spark, "main", "protected") == len(wanted)
    assert protect(spark, "main", "protected") == 0
    found = spark.sql(
        "SELECT table_name, column_name, tag_value FROM main.information_schema.column_tags "
        f"WHERE schema_name = 'protected' AND tag_name = '{TAG}'"
    )
    assert {tuple(row) for row in found.collect()} == wanted

    def seen(*groups: str) -> list[dict[str, object]]:
        return seen_by(spark, "users_redacted", *groups)

    users = spark.table(f"{SCHEMA}.users").collect()
    clear = seen(READERS)
    assert {(row["first_name"], row["street_address"]) for row in clear} == {
        (row["first_name"], row["street_address"]) for row in users
    }
    regional = seen("region-MA")
    assert {row["state"] for row in regional} == {"MA"}
    assert len(regional) == sum(row["state"] == "MA" for row in users)
    for row in regional:
        assert [row[name] for name in ("first_name", "last_name", "street_address", "city")] == [None] * 4
        assert re.fullmatch(r"\d\d\*\*\*", str(row["zip"]))
    assert seen("region-XX") == []


def seen_by(spark: SparkSession, table: str, *groups: str) -> list[dict[str, object]]:
    """The rows of a table for a member of `groups`."""
    spark.conf.set("spark.lakeward.groups", ",".join(groups))
    try:
        return [row.asDict() for row in spark.table(f"{SCHEMA}.{table}").collect()]
    finally:
        spark.conf.unset("spark.lakeward.groups")


def test_the_directory_filters_rows_and_masks_columns_and_tokens_are_random_and_kept(
    spark: SparkSession, tables: dict[str, list[str]]
) -> None:
    users = spark.table(f"{SCHEMA}.users").collect()
    everything = seen_by(spark, "user_directory", READERS)
    assert {row["street_address"] for row in everything} == {row["street_address"] for row in users}
    regional = seen_by(spark, "user_directory", "region-MA")
    assert len(regional) == sum(row["state"] == "MA" for row in users) > 0
    assert {row[name] for row in regional for name in ("first_name", "last_name", "city")} == {None}
    assert seen_by(spark, "user_directory") == []

    tokens = dict(tuple(row)[:2] for row in spark.table(f"{SCHEMA}.user_tokens").collect())
    assert len(set(tokens.values())) == len(users)
    spark.sql(f"DELETE FROM {SCHEMA}.user_tokens WHERE user_id = {users[0]['user_id']}")
    assert tokenize(spark, SCHEMA) == 1
    assert provide_directory(spark, SCHEMA) == len(users)
    again = dict(tuple(row)[:2] for row in spark.table(f"{SCHEMA}.user_tokens").collect())
    changed = {user for user, token in again.items() if tokens[user] != token}
    assert changed == {users[0]["user_id"]}
    assert len(seen_by(spark, "user_directory", READERS)) == len(users)
