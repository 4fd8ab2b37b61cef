"""Entry point `keys`: the first pseudonym key of a new lakehouse.

It creates a key once and never replaces one: with another key every person would get another pseudonym.
"""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Sequence

from databricks.sdk import WorkspaceClient
from pyspark.sql import SparkSession

__all__ = ["KeyLostError", "main", "provide_key"]


class KeyLostError(Exception):
    """The key of existing pseudonyms is not in the secret scope."""


def main(argv: Sequence[str] | None = None) -> None:
    """Provide the key that the arguments name (`sys.argv` when None).

    Raises KeyLostError when the key is missing and pseudonyms exist.
    """
    parser = argparse.ArgumentParser(prog="keys", description=__doc__)
    for name in ("catalog", "schema", "scope", "key"):
        parser.add_argument(f"--{name}", required=True)
    given, _ = parser.parse_known_args(argv)
    created = provide_key(
        SparkSession.builder.getOrCreate(),
        WorkspaceClient(),
        table=f"`{given.catalog}`.`{given.schema}`.user_keys",
        scope=given.scope,
        key=given.key,
    )
    print(f"{'created' if created else 'found'} the pseudonym key {given.key} in the scope {given.scope}")


def provide_key(spark: SparkSession, workspace: WorkspaceClient, *, table: str, scope: str, key: str) -> bool:
    """Put a random key into `scope` unless it has one.

    Args:
        spark: The session with the lakehouse.
        workspace: The workspace of the secret scope, which is created when it is missing.
        table: The table with the pseudonyms that exist.
        scope: The name of the secret scope.
        key: The name of the secret.

    Returns:
        Whether a key was created.

    Raises:
        KeyLostError: `table` has pseudonyms of a key of this name, and the scope has no such key.
    """
    if scope not in {each.name for each in workspace.secrets.list_scopes()}:
        workspace.secrets.create_scope(scope)
    if key in {each.key for each in workspace.secrets.list_secrets(scope)}:
        return False
    # The table is compared and not only its existence: a rotation creates a key of a new name.
    if spark.catalog.tableExists(table) and spark.table(table).filter(f"key_name = '{key}'").head(1):
        raise KeyLostError(
            f"The secret {key} of the scope {scope} is missing, and {table} has pseudonyms made with it. "
            "Restore the secret from its backup. Without a backup, rotate: choose another name for the "
            "bundle's variable `pseudonym_key` and deploy; every person then gets another pseudonym."
        )
    workspace.secrets.put_secret(scope, key, string_value=secrets.token_hex(32))
    return True


if __name__ == "__main__":
    main()
