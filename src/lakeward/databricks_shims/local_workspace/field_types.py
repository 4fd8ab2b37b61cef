"""The types of the API's fields, generated from databricks-sdk by `scripts/field_types.py`.

One table with two parts: the types of whole requests, objects and resources; the kinds of fields that are
checked by their name in every route. The second lacks names with several kinds in the API (`parameters`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any


def field_kinds() -> Mapping[str, str]:
    """Return the kind of each field that has one wherever the API uses it: `an object`, `a string`."""
    kinds: Mapping[str, str] = _table()["names"]
    return kinds


def request_types() -> Mapping[str, Any]:
    """Return requests, objects and resources as tables of fields, and enumerations as lists of values."""
    types: Mapping[str, Any] = _table()["types"]
    return types


@cache
def _table() -> Mapping[str, Any]:
    return dict(json.loads(Path(__file__).with_suffix(".json").read_bytes()))
