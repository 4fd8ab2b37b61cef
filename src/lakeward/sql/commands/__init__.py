"""The statements that are carried out here: one handler each, by the command's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from lakeward.sql.commands import catalogs, clone, governance, tables, volumes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["HANDLERS", "carry_out"]

Handler = Callable[..., Any]

HANDLERS: Mapping[str, Handler] = {
    "use_catalog": catalogs.use,
    "show_catalogs": catalogs.show,
    "create_catalog": catalogs.create,
    "drop_catalog": catalogs.drop,
    "describe_catalog": catalogs.describe,
    "create_volume": volumes.create,
    "drop_volume": volumes.drop,
    "describe_volume": volumes.describe,
    "show_volumes": volumes.show,
    "list_files": volumes.list_files,
    "deep_clone": clone.deep,
    "require_table": tables.require_table,
    "set_tags": governance.set_tags,
    "unset_tags": governance.unset_tags,
    "set_owner": governance.set_owner,
    "grant": governance.grant,
    "revoke": governance.revoke,
    "show_grants": governance.show_grants,
    "comment_on": governance.comment_on,
}


def carry_out(spark: SparkSession, name: str, arguments: Mapping[str, Any]) -> Any:
    """Run a command: `{"schema": DDL, "rows": [[…]]}`, `{}` without a result, or a Dataset of the JVM.

    Raises SqlError, or what Spark raises.
    """
    return HANDLERS[name](spark, **arguments)
