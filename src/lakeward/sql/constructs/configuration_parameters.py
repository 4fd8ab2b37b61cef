"""SET and RESET of the parameters of Databricks SQL, in a session of a SQL warehouse.

Sources: https://docs.databricks.com/sql/language-manual/sql-ref-parameters.html and
https://docs.databricks.com/sql/language-manual/parameters/legacy_time_parser_policy.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.session import AUTOMATIC_VALUES
from lakeward.sql.construct import BEGINNING, Command, Construct, Rows, in_area
from lakeward.sql.session_context import run_with_delta
from lakeward.sql.statement_timeout import STATEMENT_TIMEOUT, set_timeout, shown_timeout
from lakeward.sql.token_cursor import TokenCursor, Unmatched, unquote_token

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SQL_PARAMETERS = {
    "ansi_mode": "spark.sql.ansi.enabled",
    "legacy_time_parser_policy": "spark.sql.legacy.timeParserPolicy",
    "max_file_partition_bytes": "spark.sql.files.maxPartitionBytes",
    "timezone": "spark.sql.session.timeZone",
}
"""The setting of Spark for each parameter that has an effect here."""

_KEPT = ("enable_photon", "read_only_external_metastore", "use_cached_result")
"""Parameters without an effect here. Spark keeps them itself, but not in a script: SET is of variables."""

WAREHOUSE_SESSION = "spark.lakeward.sqlWarehouse"
"""Marks sessions whose statements a SQL warehouse runs on the platform. A cluster has no parameters."""


@dataclass(frozen=True)
class SetParameter(Command):
    """Sets a parameter of the session, resets it, or shows it.

    Attributes:
        verb: SET or RESET.
        name: The parameter.
        value: The new value; None for a statement without one.
        text: The statement, for a session that has no parameters.
    """

    verb: str
    name: str
    value: str | None
    text: str

    def run(self, spark: SparkSession) -> DataFrame | Rows | None:
        if self.name.lower() in _KEPT or spark.conf.get(WAREHOUSE_SESSION, "false") != "true":
            return run_with_delta(spark, self.text)
        if self.name.lower() == STATEMENT_TIMEOUT:
            return self._time_limit(spark)
        setting = SQL_PARAMETERS[self.name.lower()]
        if self.verb == "RESET":
            spark.conf.unset(setting)
            return None
        if self.value is not None:
            spark.conf.set(setting, self.value)
        return Rows("key STRING NOT NULL, value STRING NOT NULL", [[self.name, spark.conf.get(setting)]])

    def _time_limit(self, spark: SparkSession) -> Rows | None:
        if self.verb == "RESET" or self.value is not None:
            set_timeout(spark, self.value)
        if self.verb == "RESET":
            return None
        return Rows("key STRING NOT NULL, value STRING NOT NULL", [[self.name, shown_timeout(spark)]])


def _set_parameter(cursor: TokenCursor) -> SetParameter:
    verb = cursor.one_of("SET", "RESET")
    name = cursor.part()
    if name.lower() not in (*SQL_PARAMETERS, STATEMENT_TIMEOUT, *_KEPT):
        raise Unmatched
    value = None
    # Spark takes comments for a part of the key.
    text = f"{verb} {name}"
    if verb == "SET" and cursor.next is not None:
        cursor.need("=")
        begin = cursor.at
        cursor.finish()
        tokens = cursor.read(begin)
        if not tokens:
            raise Unmatched
        value = unquote_token(tokens[0].text) if len(tokens) == 1 else cursor.text(begin)
        text += f" = {cursor.text(begin)}"
    cursor.end()
    return SetParameter(verb, name, value, text)


@dataclass(frozen=True)
class SetAutomatic(Command):
    """Leaves a setting to the platform, as `spark.conf.set(key, "auto")`, and shows the value in use."""

    key: str
    word: str

    def run(self, spark: SparkSession) -> Rows:
        spark.conf.set(self.key, self.word)
        return Rows("key STRING NOT NULL, value STRING NOT NULL", [[self.key, spark.conf.get(self.key)]])


def _set_automatic(cursor: TokenCursor) -> SetAutomatic:
    cursor.need("SET")
    key = ".".join(cursor.name(5))
    if key not in AUTOMATIC_VALUES:
        raise Unmatched
    cursor.need("=")
    word = cursor.one_of(*map(str.upper, AUTOMATIC_VALUES[key]))
    cursor.end()
    return SetAutomatic(key, word.lower())


CONSTRUCTS = in_area(
    "Settings of the platform",
    Construct(
        name="SET spark.sql.shuffle.partitions = auto",
        verdict="emulated",
        example="SET spark.sql.shuffle.partitions = auto",
        note="the number with which the session began; in `spark.conf.set`, pipelines and clusters, too. "
        "`auto` and `legacy` of `spark.databricks.delta.autoCompact.enabled` are `true`",
        starts=("SET",),
        statement=_set_automatic,
        trigger=BEGINNING
        + rf"set\s+(?:{'|'.join(map(re.escape, AUTOMATIC_VALUES))})\s*=\s*(?:auto|legacy)\b",
        test="tests/sql/test_configuration_parameters.py",
    ),
    Construct(
        name="SET, RESET of a parameter",
        example="SET ansi_mode = false",
        note=f"{', '.join(map(str.upper, (*SQL_PARAMETERS, STATEMENT_TIMEOUT)))}: in SQL tasks, `lakeward "
        "sql` and statements of a warehouse; other parameters are kept without an effect",
        starts=("SET", "RESET"),
        statement=_set_parameter,
        trigger=BEGINNING + rf"(?:re)?set\s+`?(?:{'|'.join((*SQL_PARAMETERS, STATEMENT_TIMEOUT))})\b",
        test="tests/sql/test_configuration_parameters.py",
    ),
)
