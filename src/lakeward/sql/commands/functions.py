"""What functions give that Spark lacks; asked when a query is analyzed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.sql.commands.place import result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["groups", "unserved"]

GROUPS_CONF = "spark.lakeward.groups"
GROUPS_VARIABLE = "LAKEWARD_GROUPS"
# Whoever can run a query on the platform is in these.
_EVERYBODY = ("users", "account users")


def groups(spark: SparkSession, *, positional: list[Any], named: dict[str, Any]) -> dict[str, Any]:
    """The groups of the user, for is_member and is_account_group_member: configured, separated by commas."""
    del positional, named
    configured = spark.conf.get(GROUPS_CONF, None) or os.environ.get(GROUPS_VARIABLE, "")
    names = [name.strip() for name in (configured or "").split(",") if name.strip()]
    return result("name STRING", [[name] for name in dict.fromkeys([*_EVERYBODY, *names])])


def unserved(name: str) -> SqlError:
    """The error for a command that no room of this process serves."""
    return SqlError(
        "UNSUPPORTED_SQL",
        f"Nothing serves {name.removeprefix('function.')} in this session.",
        sql_state="0A000",
    )
