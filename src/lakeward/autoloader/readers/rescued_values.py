"""Values of typed files as they stand in the rescued column (auto-loader.md §4.1 rule 3)."""

from __future__ import annotations

import base64
import json
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

__all__ = ["as_json"]


def as_json(value: Any) -> str | None:
    """Numbers as numbers, times as ISO text with a zone; None where there is nothing to keep."""
    plain = _plain(value)
    return None if plain is None else json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        zoned = value if value.tzinfo else value.replace(tzinfo=timezone.utc)
        return zoned.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat() + "T00:00:00.000Z"
    if isinstance(value, Decimal):
        return float(value) if value != int(value) else int(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        kept = {key: plain for key, item in value.items() if (plain := _plain(item)) is not None}
        return kept or (None if value else {})
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
