"""Formats of the values in texts, as the options of a source set them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import tzinfo
from functools import cache

from lakeward.autoloader.conversion.date_patterns import DatePattern, parse_zone
from lakeward.autoloader.options.option_values import Options
from lakeward.errors import CloudFilesError

_SPECIAL = {
    "NaN": float("nan"),
    **dict.fromkeys(("+INF", "Infinity", "+Infinity"), float("inf")),
    **dict.fromkeys(("-INF", "-Infinity"), float("-inf")),
}


@dataclass(frozen=True)
class TextFormats:
    """Formats of timestamps and dates, the spelling of special floating-point numbers, whether BINARY is
    base64, and whether commas group the digits of floating-point numbers."""

    zone: tzinfo
    timestamp: DatePattern | None = None
    timestamp_ntz: DatePattern | None = None
    date: DatePattern | None = None
    special: tuple[tuple[str, float], ...] = tuple(_SPECIAL.items())
    base64_binary: bool = True
    grouped_doubles: bool = False

    @classmethod
    def of(cls, options: Options, zone: str) -> TextFormats:
        """Return the formats that the options set."""
        # Of CSV and XML, which have no types: options name the words, and BINARY is the text itself.
        is_plain_text = options.format in ("csv", "xml")
        words = _SPECIAL if not is_plain_text else {
            "NaN": float("nan"),
            str(options.text("nanValue")): float("nan"),
            str(options.text("positiveInf")): float("inf"),
            str(options.text("negativeInf")): float("-inf"),
            **dict.fromkeys(("Infinity", "+Infinity"), float("inf")),
            "-Infinity": float("-inf"),
        }  # fmt: skip
        named = options.text("timeZone")
        if named and parse_zone(named) is None:
            raise CloudFilesError(
                "INVALID_TIMEZONE",
                f"Option timeZone is set to {named!r}, which is no time zone.",
                next_step="Set a region such as Europe/Paris, or an offset such as +02:00.",
            )
        return cls(
            parse_zone(zone) or parse_zone("UTC"),  # type: ignore[arg-type]
            _date_pattern(options, "timestampFormat"),
            _date_pattern(options, "timestampNTZFormat"),
            _date_pattern(options, "dateFormat") or _default_date_pattern(options),
            tuple(words.items()),
            not is_plain_text,
            options.format == "xml",
        )


# What neither Java's patterns nor Spark's have.
_ILLEGAL_LETTERS = "AbBCfgiIjJlnNoprPRtTU"


@cache
def _compile_pattern(text: str) -> DatePattern:
    return DatePattern(text)


def _date_pattern(options: Options, key: str) -> DatePattern | None:
    text = options.text(key)
    if text is None:
        return None
    try:
        return _compile_pattern(text)
    except ValueError as error:
        raise CloudFilesError(
            _pattern_condition(text),
            f"Option {key} is set to {text!r}; expected {error}.",
            next_step="Correct the pattern, or read the column as text and convert it with to_timestamp.",
        ) from None


def _default_date_pattern(options: Options) -> DatePattern | None:
    """Return the default of Spark's XML reader; without a pattern, dates are read in more forms."""
    has_default = options.format == "xml" and options.flag("preferDate")
    return _compile_pattern("yyyy-MM-dd") if has_default else None


def _pattern_condition(text: str) -> str:
    """Return the condition of a pattern with a letter that is none of Java's, or that lacks a parser here."""
    letters = set(re.sub(r"'[^']*'", "", text))
    is_illegal = not letters.isdisjoint(_ILLEGAL_LETTERS)
    return "INVALID_DATETIME_PATTERN.ILLEGAL_CHARACTER" if is_illegal else "CF_INVALID_OPTION_VALUE"
