"""Names of table properties: those that say what a table is, which users do not see, and those of Delta."""

from __future__ import annotations

from collections.abc import Mapping

_OWN = "lakeward."
KIND_PROPERTY = "lakeward.kind"
"""The property with the kind of a dataset: `materialized_view` or `streaming_table`.

InformationSchemaScan.java reads it, too.
"""
HIDDEN_PROPERTY = "lakeward.hidden"
"""The property with the names of further properties that the runtime has set, separated by commas."""

CHECK_PREFIX = "delta.constraints."
"""What the names of the properties with CHECK constraints begin with; their names follow."""


def table_type(properties: Mapping[str, str], otherwise: str = "MANAGED") -> str:
    """Return the type of a table as Unity Catalog names it.

    >>> table_type({"lakeward.kind": "streaming_table"})
    'STREAMING_TABLE'
    """
    return properties[KIND_PROPERTY].upper() if KIND_PROPERTY in properties else otherwise


def hidden_properties(properties: Mapping[str, str]) -> set[str]:
    """Return the names of the properties that only the runtime uses.

    >>> sorted(hidden_properties({"lakeward.kind": "x", "lakeward.hidden": "a,b", "a": "1", "c": "2"}))
    ['a', 'b', 'lakeward.hidden', 'lakeward.kind']
    """
    listed = properties.get(HIDDEN_PROPERTY, "").split(",")
    return {key for key in (*properties, *listed) if key.startswith(_OWN) or key in listed} - {""}


def shown_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties that users see.

    >>> shown_properties({"lakeward.kind": "streaming_table", "delta.appendOnly": "true"})
    {'delta.appendOnly': 'true'}
    """
    hidden = hidden_properties(properties)
    return {key: value for key, value in properties.items() if key not in hidden}
