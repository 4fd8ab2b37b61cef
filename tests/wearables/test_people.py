"""Users by AUTO CDC's rules, pseudonyms, their key, and groups (DM-6, INV-21)."""

from __future__ import annotations

import hashlib
import hmac
from datetime import date, datetime, timezone
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from wearables import transforms
from wearables.jobs.keys import KeyLostError, provide_key

KEY = "a key that only this test has"


class Secrets:
    """The secrets of a workspace, as databricks-sdk shows them."""

    def __init__(self) -> None:
        self.scopes: dict[str, dict[str, str]] = {}

    def list_scopes(self) -> list[Any]:
        return [SimpleNamespace(name=name) for name in self.scopes]

    def create_scope(self, name: str) -> None:
        self.scopes[name] = {}

    def list_secrets(self, scope: str) -> list[Any]:
        return [SimpleNamespace(key=key) for key in self.scopes[scope]]

    def put_secret(self, scope: str, key: str, *, string_value: str) -> None:
        self.scopes[scope][key] = string_value


def expected(user_id: int, key: str = KEY) -> str:
    return hmac.new(key.encode(), str(user_id).encode(), hashlib.sha256).hexdigest()[:32]


def test_pseudonyms_are_keyed_distinct_and_the_key_is_in_no_plan(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    users = (
        spark.range(1000).selectExpr("id % 500 AS user_id").union(spark.sql("SELECT CAST(NULL AS BIGINT)"))
    )
    found = transforms.pseudonyms(users, key=KEY, key_name="pseudonym-1")
    rows = {row["user_id"]: row["pseudonym"] for row in found.collect()}
    assert rows == {user_id: expected(user_id) for user_id in range(500)}
    assert len(set(rows.values())) == 500
    others = transforms.pseudonyms(users, key="another key", key_name="pseudonym-2").collect()
    assert not {row["pseudonym"] for row in others} & set(rows.values())
    found.explain("extended")
    plan = capsys.readouterr().out
    assert "pseudonym" in plan
    assert KEY not in plan and KEY.encode().hex() not in plan


def test_a_key_is_created_once_never_replaced_and_its_loss_stops_the_job(spark: SparkSession) -> None:
    secrets, table = Secrets(), "main.default.user_keys_of_test"
    arguments = {"table": table, "scope": "s", "key": "pseudonym-1"}
    workspace: Any = SimpleNamespace(secrets=secrets)
    assert provide_key(spark, workspace, **arguments)
    created = dict(secrets.scopes["s"])
    assert len(created["pseudonym-1"]) == 64
    assert not provide_key(spark, workspace, **arguments)
    assert secrets.scopes["s"] == created

    spark.sql(f"CREATE OR REPLACE TABLE {table} AS SELECT 1 AS user_id, 'pseudonym-1' AS key_name")
    secrets.scopes["s"].clear()
    with pytest.raises(KeyLostError, match="The secret pseudonym-1 of the scope s is missing"):
        provide_key(spark, workspace, **arguments)
    assert secrets.scopes["s"] == {}
    assert provide_key(spark, workspace, **{**arguments, "key": "pseudonym-2"}), "a rotation"


@pytest.mark.parametrize(
    ("born", "band"),
    [
        ("2002-01-02", "under 18"),
        ("2002-01-01", "18-24"),
        ("1995-01-02", "18-24"),
        ("1995-01-01", "25-34"),
        ("1955-01-01", "65+"),
        ("1900-01-01", "unknown"),
        ("2020-01-02", "unknown"),
        (None, "unknown"),
    ],
)
def test_ages_change_on_birthdays_and_are_those_of_the_newest_day_of_bronze(
    spark: SparkSession, born: str | None, band: str
) -> None:
    users = spark.createDataFrame(
        [(1, born and date.fromisoformat(born), "F", "NW")],
        "user_id BIGINT, dob DATE, gender STRING, state STRING",
    )
    bronze = spark.createDataFrame([(date(2019, 12, 31),), (date(2020, 1, 1),)], "date DATE")
    keys = spark.createDataFrame([(1, "p")], "user_id BIGINT, pseudonym STRING")
    assert [tuple(row) for row in transforms.age_bands(users, keys, bronze).collect()] == [
        ("p", band, "F", "NW")
    ]


def test_load_counts_a_second_once_by_its_zone_and_iso_week_and_small_groups_are_not_published(
    spark: SparkSession,
) -> None:
    moment = datetime(2019, 12, 29, 23, 59, 59, tzinfo=timezone.utc).timestamp()
    rates = [(moment, 99.0), (moment, 99.0), (moment + 1, 100.0), (moment + 2, 160.0)]
    given = [(user, device, time, rate) for user in range(9) for device in [user] for time, rate in rates]
    recordings = spark.createDataFrame(given, "user_id BIGINT, device_id BIGINT, s DOUBLE, heartrate DOUBLE")
    recordings = recordings.withColumn("time", F.col("s").cast("timestamp"))
    keys = spark.range(9).selectExpr("id AS user_id", "CAST(id AS STRING) AS pseudonym")
    load = transforms.training_load(recordings, keys, transforms.dates(spark))
    assert {tuple(row)[1:] for row in load.collect()} == {("2019-52", 1, 1, 99.0), ("2020-01", 2, 7, 160.0)}

    bins = keys.selectExpr("pseudonym", "IF(user_id < 5, '18-24', '25-34') AS age_band")
    groups = transforms.fitness_by_group(load, bins).collect()
    assert {tuple(row) for row in groups} == {("2019-52", "18-24", 5, 5, 5), ("2020-01", "18-24", 5, 10, 35)}
