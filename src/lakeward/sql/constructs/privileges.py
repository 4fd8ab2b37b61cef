"""Privileges of Unity Catalog, and the kinds of objects that each applies to.

Source: https://docs.databricks.com/aws/en/data-governance/unity-catalog/manage-privileges/privileges
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lakeward.errors import SqlError

ALL = "ALL PRIVILEGES"

_ON_EVERY_OBJECT = frozenset((ALL, "APPLY TAG", "MANAGE"))
_ON_TABLES = frozenset(("MODIFY", "REFRESH", "SELECT"))
_ON_VOLUMES = frozenset(("READ VOLUME", "WRITE VOLUME"))
_ON_ROUTINES = frozenset(("EXECUTE",))
# Objects inherit the privileges on their schema and catalog, so those take the privileges of what is in them.
_ON_SCHEMAS = (
    _ON_TABLES
    | _ON_VOLUMES
    | _ON_ROUTINES
    | {
        *(
            "CREATE FUNCTION",
            "CREATE MATERIALIZED VIEW",
            "CREATE MODEL",
            "CREATE MODEL VERSION",
            "CREATE TABLE",
        ),
        *("CREATE VOLUME", "EXTERNAL USE SCHEMA", "USE SCHEMA"),
    }
)
_ON_METASTORES = frozenset(
    (
        *("CREATE CATALOG", "CREATE CLEAN ROOM", "CREATE CONNECTION", "CREATE EXTERNAL LOCATION"),
        *("CREATE FOREIGN CATALOG", "CREATE PROVIDER", "CREATE RECIPIENT", "CREATE SERVICE CREDENTIAL"),
        *("CREATE SHARE", "CREATE STORAGE CREDENTIAL", "MANAGE ALLOWLIST", "SET SHARE PERMISSION"),
        *("USE CONNECTION", "USE MARKETPLACE ASSETS", "USE PROVIDER", "USE RECIPIENT", "USE SHARE"),
    )
)
_APPLICABLE = {
    "METASTORE": _ON_METASTORES,
    "CATALOG": _ON_SCHEMAS | {"BROWSE", "CREATE SCHEMA", "USE CATALOG"},
    "SCHEMA": _ON_SCHEMAS,
    "TABLE": _ON_TABLES,
    "VOLUME": _ON_VOLUMES,
    "FUNCTION": _ON_ROUTINES,
    "PROCEDURE": _ON_ROUTINES,
    "EXTERNAL LOCATION": frozenset(
        (
            *("BROWSE", "CREATE EXTERNAL TABLE", "CREATE EXTERNAL VOLUME", "CREATE FOREIGN SECURABLE"),
            "CREATE TABLE",
            *("CREATE MANAGED STORAGE", "EXTERNAL USE LOCATION", "READ FILES", "WRITE FILES"),
        )
    ),
}
"""ANY FILE has privileges of table access control, which are not checked."""

# Its privileges are those of table access control: USAGE, READ_METADATA and others.
_LEGACY_CATALOG = "hive_metastore"


def require_applicable(kind: str, name: Sequence[str], privileges: Iterable[str]) -> None:
    """Raise SqlError for a privilege that objects of the kind do not have.

    >>> require_applicable("TABLE", ("c", "s", "t"), ["SELECT", "ALL PRIVILEGES"])
    """
    applicable = _APPLICABLE.get(kind)
    if applicable is None or name[:1] == (_LEGACY_CATALOG,):
        return
    applicable = applicable | _ON_EVERY_OBJECT
    wrong = [privilege for privilege in privileges if privilege not in applicable]
    if wrong:
        raise SqlError(
            "INVALID_PARAMETER_VALUE",
            f"Privilege {wrong[0]} is not applicable to this entity [{'.'.join(name)}:{kind}].",
            sql_state="22023",
            next_step=f"Privileges of this kind of object: {', '.join(sorted(applicable))}.",
        )
