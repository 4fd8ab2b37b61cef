"""Entry point `keys`: the secrets of a new lakehouse, and the tables of erasure, which the pipeline reads.

It creates a key once and never replaces one: with another key every person would get another pseudonym, and
the suppression list would have no effect.
"""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Sequence

from databricks.sdk import WorkspaceClient
from pyspark.sql import SparkSession

from wearables.erasure import create_tables
from wearables.suppression import KEY

__all__ = ["KeyLostError", "main", "provide_key"]


_ROTATE = (
    "Without a backup, rotate: choose another name for the bundle's variable `pseudonym_key` and deploy; "
    "every person then gets another pseudonym."
)
_LOST = {KEY: "Without a backup, the list has no effect: delete its rows, and request the erasures again."}


class KeyLostError(Exception):
    """The key of existing pseudonyms is not in the secret scope."""


def main(argv: Sequence[str] | None = None) -> None:
    """Provide the keys for the place that the arguments name (`sys.argv` when None).

    Raises KeyLostError when a key is missing with which rows were made.
    """
    parser = argparse.ArgumentParser(prog="keys", description=__doc__)
    for name in ("catalog", "schema", "scope", "key"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--retention", default="7 days")
    given, _ = parser.parse_known_args(argv)
    spark, workspace = SparkSession.builder.getOrCreate(), WorkspaceClient()
    schema = f"`{given.catalog}`.`{given.schema}`"
    create_tables(spark, schema, given.retention)
    for table, key in (("user_keys", given.key), ("suppressed", KEY)):
        created = provide_key(spark, workspace, table=f"{schema}.{table}", scope=given.scope, key=key)
        print(f"{'created' if created else 'found'} the key {key} in the scope {given.scope}")


def provide_key(spark: SparkSession, workspace: WorkspaceClient, *, table: str, scope: str, key: str) -> bool:
    """Put a random key into `scope` unless it has one.

    Args:
        spark: The session with the lakehouse.
        workspace: The workspace of the secret scope, which is created when it is missing.
        table: The table with the rows that were made with the key.
        scope: The name of the secret scope.
        key: The name of the secret.

    Returns:
        Whether a key was created.

    Raises:
        KeyLostError: `table` has rows of a key of this name, and the scope has no such key.
    """
    if scope not in {each.name for each in workspace.secrets.list_scopes()}:
        workspace.secrets.create_scope(scope)
    if key in {each.key for each in workspace.secrets.list_secrets(scope)}:
        return False
    # The table is compared and not only its existence: a rotation creates a key of a new name.
    if spark.catalog.tableExists(table) and spark.table(table).filter(f"key_name = '{key}'").head(1):
        raise KeyLostError(
            f"The secret {key} of the scope {scope} is missing, and {table} has rows made with it. "
            "Restore the secret from its backup. " + _LOST.get(key, _ROTATE)
        )
    workspace.secrets.put_secret(scope, key, string_value=secrets.token_hex(32))
    return True


if __name__ == "__main__":
    main()
