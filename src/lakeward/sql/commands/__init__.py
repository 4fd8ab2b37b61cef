"""The statements that are carried out here: one handler each, by the command's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from lakeward.sql.commands import (
    catalogs,
    clone,
    create_table,
    ddl,
    detail,
    event_log,
    functions,
    governance,
    inserts,
    keys,
    policies,
    tables,
    vacuum,
    volumes,
)
from lakeward.sql.information import information_schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["carry_out", "serve"]

Handler = Callable[..., Any]

_handlers: dict[str, Handler] = {
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
    "replace_by_shallow_clone": clone.replace_by_shallow,
    "insert_replace": inserts.replace,
    "show_create_table": ddl.show_create,
    "describe_detail": detail.describe_detail,
    "require_table": tables.require_table,
    "set_tags": governance.set_tags,
    "unset_tags": governance.unset_tags,
    "set_owner": governance.set_owner,
    "grant": governance.grant,
    "revoke": governance.revoke,
    "show_grants": governance.show_grants,
    "comment_on": governance.comment_on,
    "set_row_filter": policies.set_row_filter,
    "drop_row_filter": policies.drop_row_filter,
    "set_mask": policies.set_mask,
    "drop_mask": policies.drop_mask,
    "create_table": create_table.create_table,
    "add_key": keys.add_key,
    "drop_key": keys.drop_key,
    "drop_constraint": keys.drop_constraint,
    "information_schema": information_schema,
    "vacuum": vacuum.vacuum,
    "function.groups": functions.groups,
    "function.event_log": event_log.event_log,
}


class Served:
    """A handler in its place; leaving the block puts back the one before it."""

    def __init__(self, name: str, before: Handler | None) -> None:
        self._name, self._before = name, before

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        if self._before is None:
            _handlers.pop(self._name, None)
        else:
            _handlers[self._name] = self._before


def serve(name: str, handler: Handler) -> Served:
    """Let `handler` carry out the command `name`, or give what the function `function.<name>` gives.

    It is called with the session and, by name, with the command's arguments; a function's are
    `positional` and `named`, with constants as text. A function that stands in FROM gives the
    DataFrame's `_jdf`; with STREAM before its call it is asked for as `function.stream_<name>`.
    For good, or as the block of a `with` statement.
    """
    served = Served(name, _handlers.get(name))
    _handlers[name] = handler
    return served


def carry_out(spark: SparkSession, name: str, arguments: Mapping[str, Any]) -> Any:
    """Run a command: `{"schema": DDL, "rows": [[…]]}`, `{}` without a result, or a Dataset of the JVM.

    Raises SqlError, or what Spark raises.
    """
    if name not in _handlers:
        raise functions.unserved(name)
    return _handlers[name](spark, **arguments)
