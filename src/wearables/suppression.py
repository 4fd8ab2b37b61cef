"""The suppression list: whose records are not kept, without a plain id.

A record is recognised by the identifiers in its text, be it a line as it was delivered or a row as JSON,
broken ones included. The list has keyed tokens of identifiers with the time up to which records of the person
are erased; what the person sends later, after a return, is kept.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

__all__ = ["KEY", "SLOTS", "identifiers", "marked", "moment", "token", "unsuppressed"]

KEY = "suppression"
"""Name of the secret with which tokens are computed. It is never rotated: the plain ids are gone."""

SLOTS = 4
"""Tokens of a record that are looked up: two of its key, and two of its payload."""

_KINDS = {"user_id": "user", "device_id": "device", "mac": "mac", "mac_address": "mac"}
# Quotes are escaped where a broken line is a string in the JSON of its row.
_FIELD = re.compile(r'"(user_id|device_id|mac|mac_address)\\*"\s*:\s*(?:\\*")?([0-9A-Za-z:-]+)')
_TEXT = re.compile(r'"(key|value)\\*"\s*:\s*\\*"([^"]*)')
_NO_BASE64 = re.compile("[^0-9A-Za-z+/]")
# Milliseconds of the gateway, seconds of the file feeds.
_TIMES = (
    (re.compile(r'"timestamp\\*"\s*:\s*(\d+)'), 1000.0),
    (re.compile(r'"registration_timestamp\\*"\s*:\s*([0-9.E+]+)'), 1.0),
    (re.compile(r'"last_timestamp\\*"\s*:\s*([0-9.E+]+)'), 1.0),
)


def identifiers(text: str) -> list[str]:
    """Return the identifiers in a line or a row as JSON, such as `user:10007` and `mac:02:00:…`, sorted.

    Keys and payloads are read in plain text and in base64, also if they are cut off. The key of a record is
    looked up as a user and as a device, whatever its topic: faulty records have either below any topic.
    """
    found = _named(text)
    for name, content in _TEXT.findall(text):
        # Content without quotes names nothing by a field before it is decoded.
        found |= _of_key(content) if name == "key" else _named(_decoded(content))
    return sorted(found)


def _of_key(content: str) -> set[str]:
    decoded = _decoded(content)
    numbers = [plain for plain in (content, decoded) if plain.isdecimal()]
    return {f"{kind}:{number}" for number in numbers for kind in ("user", "device")} | _named(decoded)


def _named(text: str) -> set[str]:
    fields = ((_KINDS[name], value.lower()) for name, value in _FIELD.findall(text))
    return {f"{kind}:{value}" for kind, value in fields if value != "null"}


def _decoded(content: str) -> str:
    """Return what base64 text represents, as far as it is whole; empty if it is no base64."""
    whole = _NO_BASE64.sub("", content)
    try:
        return base64.b64decode(whole[: len(whole) // 4 * 4] + _rest(whole)).decode(errors="replace")
    except binascii.Error:
        return ""


def _rest(whole: str) -> str:
    rest = whole[len(whole) // 4 * 4 :]
    return rest + "=" * (4 - len(rest)) if len(rest) > 1 else ""


def moment(text: str) -> float | None:
    """Return when a line or row was sent, in seconds since 1970; None if it does not say."""
    for pattern, unit in _TIMES:
        match = pattern.search(text)
        if match:
            try:
                return float(match.group(1)) / unit
            except ValueError:
                return None
    return None


def token(identifier: str, key: str) -> str:
    """Return the token of an identifier: HMAC-SHA256 with `key`, the first 128 bits in hexadecimal."""
    return hmac.new(key.encode(), identifier.encode(), hashlib.sha256).hexdigest()[:32]


def marked(records: DataFrame, text: Column, key: str, listed: DataFrame | None = None) -> DataFrame:
    """Add the columns `_tokens` (array of strings) and `_moment` (timestamp) by the text of each record.

    Args:
        records: The records.
        text: The text of a record: a line, or a row as JSON.
        key: The secret; it is in a function and not in an expression, so that no plan shows it.
        listed: A table with a column `token`. A record with none of its tokens has NULL in both columns:
            most records have none, and values of two columns are slower to return than to compute.
    """
    wanted = None if listed is None else {row["token"] for row in listed.select("token").collect()}
    # Of one task: a device sends many records.
    known: dict[str, str] = {}

    def recognise(line: str | None) -> tuple[list[str], float | None] | None:
        names = identifiers(line) if line else []
        for name in names:
            if name not in known:
                known[name] = token(name, key)
        tokens = [known[name] for name in names]
        if wanted is not None and wanted.isdisjoint(tokens):
            return None
        return tokens, moment(line) if line else None

    # Spark would take the type hints of the function for those of a pandas function.
    recognised = F.udf(lambda line: recognise(line), "tokens ARRAY<STRING>, moment DOUBLE")  # noqa: PLW0108
    return (
        records.withColumn("_recognised", recognised(text))
        .withColumn("_tokens", F.col("_recognised.tokens"))
        .withColumn("_moment", F.col("_recognised.moment").cast("timestamp"))
        .drop("_recognised")
    )


def unsuppressed(records: DataFrame, suppressed: DataFrame, key: str) -> DataFrame:
    """Leave out the records of erased people; those without a readable time are left out, too.

    One equality join for each token, so that a long list costs no more than a short one; a stream stays
    without state. While the list is empty, no record is searched for identifiers.
    """
    filled = suppressed.agg((F.count(F.lit(1)) > 0).alias("_some"))
    text = F.when(F.col("_some"), F.to_json(F.struct(*records.columns)))
    kept = marked(records.crossJoin(F.broadcast(filled)), text, key)
    for slot in range(SLOTS):
        listed = suppressed.select(F.col("token").alias("_token"), F.col("until").alias("_until"))
        same = F.expr(f"try_element_at(_tokens, {slot + 1}) = _token")
        erased = same & F.expr("_moment IS NULL OR _moment <= _until")
        kept = kept.join(F.broadcast(listed), erased, "left_anti")
    return kept.select(*records.columns)
