"""CSV text to rows of strings, compatible with Spark's parser (univocity)."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from lakeward.autoloader.options.option_values import Options
from lakeward.errors import CloudFilesError

Row = list["str | None"]
# `opening` is a quote at the end of a line; `unquoted` includes values with a quote without an escape.
ValueEnd = Literal["unquoted", "closed", "open", "opening"]


def _require_valid_values(options: Options) -> None:
    """Raise CloudFilesError for a value that Spark's reader refuses, too."""
    options.value("header")
    for key in ("quote", "escape", "comment", "charToEscapeQuoteEscaping"):
        value = str(options.text(key) or "")
        # Spark reads this text as the character with the code 0.
        if len(value) > 1 and value != r"\u0000":
            raise CloudFilesError(
                "OPTION_VALUE_EXCEEDS_ONE_CHARACTER",
                f"Option {key} is set to {value!r}; it takes one character.",
                next_step="Correct the value or remove the option.",
            )
    if not (options.raw.get("delimiter") or options.text("sep")):
        raise CloudFilesError(
            "CF_INVALID_OPTION_VALUE",
            "Option sep is set to ''; expected one character or more.",
            next_step="Correct the value or remove the option.",
        )
    for key, least in (("maxColumns", 1), ("maxCharsPerColumn", -1)):
        if options.value(key) < least:
            raise CloudFilesError(
                "CF_INVALID_OPTION_VALUE",
                f"Option {key} is set to {options.value(key)}; the minimum is {least}.",
                next_step="Correct the value or remove the option.",
            )
    if options.value("unescapedQuoteHandling") == "BACK_TO_DELIMITER":
        raise CloudFilesError(
            "CF_UNSUPPORTED_OPTION",
            "Option unescapedQuoteHandling is set to BACK_TO_DELIMITER, which this runtime does not support.",
            next_step="Use STOP_AT_DELIMITER, which keeps the text up to the next separator.",
        )


def _malformed_record(line: str, reason: str) -> CloudFilesError:
    """Return the error of a line that the parser cannot split, in every mode, as Spark's."""
    return CloudFilesError(
        "MALFORMED_CSV_RECORD",
        f"Malformed CSV record: {reason}: {' '.join(line[:200].split())}",
        next_step="Repair the file, or change the option.",
    )


@dataclass(frozen=True)
class CsvDialect:
    """The format of CSV files."""

    sep: str = ","
    quote: str = '"'
    escape: str = "\\"
    comment: str = ""
    null: str = ""
    empty: str = ""
    trim_start: bool = False
    trim_end: bool = False
    multi_line: bool = False
    skip: int = 0
    separator: str | None = None
    encoding: str = "utf-8"
    max_columns: int = 20480
    max_chars: int = -1
    unescaped: str = "STOP_AT_DELIMITER"

    @classmethod
    def of(cls, options: Options) -> CsvDialect:
        """Create the dialect from the options."""

        def text(key: str) -> str:
            return str(options.text(key) or "")

        _require_valid_values(options)
        return cls(
            sep=(options.raw.get("delimiter") or text("sep")).replace("\\t", "\t"),
            quote=text("quote"),
            escape=text("escape"),
            comment=text("comment"),
            null=text("nullValue"),
            empty=text("emptyValue"),
            trim_start=options.flag("ignoreLeadingWhiteSpace"),
            trim_end=options.flag("ignoreTrailingWhiteSpace"),
            multi_line=options.flag("multiLine"),
            skip=int(options.value("skipRows")),
            separator=options.line_separator,
            encoding=options.encoding,
            max_columns=options.value("maxColumns"),
            max_chars=options.value("maxCharsPerColumn"),
            unescaped=options.value("unescapedQuoteHandling"),
        )

    def row(self, line: str) -> Row:
        """Return the values of a line; unquoted empty values and `nullValue` are null.

        Raises CloudFilesError for more or longer values than the options allow.
        """
        values = self._split(line)
        if len(values) > self.max_columns:
            raise _malformed_record(line, f"it has more than maxColumns = {self.max_columns} values")
        # Most dialects have no maximum.
        if self.max_chars >= 0 and any(value and len(value) > self.max_chars for value in values):
            raise _malformed_record(line, f"a value is longer than maxCharsPerColumn = {self.max_chars}")
        return values

    def _split(self, line: str) -> Row:
        if not (self.quote and self.quote in line):
            values: Row = line.split(self.sep)  # type: ignore[assignment]
            if self.trim_start or self.trim_end:
                values = [self._trimmed(str(value)) for value in values]
            return [None if value in ("", self.null) else value for value in values]
        return [
            self._quoted(value) if end in ("closed", "open") else self._plain(value)
            for value, end in self._values(line)
        ]

    def _plain(self, value: str) -> str | None:
        value = self._trimmed(value)
        return None if value in ("", self.null) else value

    def _quoted(self, value: str) -> str | None:
        value = value or self.empty
        return None if value == self.null else value

    def _trimmed(self, value: str) -> str:
        if self.trim_start:
            value = value.lstrip(" \t")
        return value.rstrip(" \t") if self.trim_end else value

    def _values(self, line: str, *, begins_within: bool = False) -> Iterator[tuple[str, ValueEnd]]:
        """Yield the values of a line and what ends them; the first may continue a value in quotes."""
        at, end = 0, len(line)
        while True:
            start = at
            while start < end and line[start] in " \t" and line[start] != self.sep:
                start += 1
            if begins_within:
                value, at, end_of_value = self._read_quoted(line, 0)
                yield value, end_of_value
                begins_within = False
            elif line.startswith(self.quote, start) and (start == at or self.trim_start):
                value, at, end_of_value = self._read_quoted(line, start + 1)
                yield value, end_of_value
            else:
                stop = line.find(self.sep, at)
                stop = end if stop < 0 else stop
                yield line[at:stop], "unquoted"
                at = stop
            if at >= end:
                return
            at += len(self.sep)
            if at == end:
                yield "", "unquoted"
                return

    def ends_within_quotes(self, line: str, *, begins_within: bool) -> bool:
        """Return whether the last value of a line has no closing quote yet.

        `begins_within` is that of the line before, if both are of one record.
        """
        *_, (_, end_of_value) = self._values(line, begins_within=begins_within)
        return end_of_value in ("open", "opening")

    def _read_quoted(self, line: str, at: int) -> tuple[str, int, ValueEnd]:
        """Return the value after an opening quote, its end, and what ends it.

        An unescaped quote inside makes it an unquoted value up to the next separator (STOP_AT_DELIMITER), is
        a character of the value (STOP_AT_CLOSING_QUOTE), makes it null (SKIP_VALUE) or fails (RAISE_ERROR).
        """
        out: list[str] = []
        end = len(line)
        if at == end:
            return self.quote, end, "opening"
        while at < end:
            char = line[at]
            if char == self.escape and at + 1 < end and line[at + 1] in (self.quote, self.escape):
                out.append(line[at + 1])
                at += 2
                continue
            if char == self.quote:
                run = at
                while run < end and line[run] == self.quote:
                    run += 1
                if run - at > 1 and self.unescaped in ("SKIP_VALUE", "RAISE_ERROR"):
                    return self._unescaped(line, run)
                out.append(self.quote * (run - at - 1))
                after = run
                while after < end and line[after] in " \t" and line[after] != self.sep:
                    after += 1
                if after >= end or line.startswith(self.sep, after):
                    return "".join(out), after, "closed"
                if self.unescaped == "STOP_AT_CLOSING_QUOTE":
                    out.append(self.quote)
                    at = run
                    continue
                if self.unescaped != "STOP_AT_DELIMITER":
                    return self._unescaped(line, run)
                stop = line.find(self.sep, run)
                stop = end if stop < 0 else stop
                return f"{self.quote}{''.join(out)}{self.quote}{line[run:stop]}", stop, "unquoted"
            out.append(char)
            at += 1
        return "".join(out), end, "open"

    def _unescaped(self, line: str, at: int) -> tuple[str, int, ValueEnd]:
        """Return a null value up to the next separator, or raise."""
        if self.unescaped == "RAISE_ERROR":
            raise _malformed_record(line, "a quoted value has a quote without an escape")
        stop = line.find(self.sep, at)
        return "", len(line) if stop < 0 else stop, "unquoted"


def split_lines(data: bytes, dialect: CsvDialect) -> list[str]:
    """Return lines with content, without comments and skipped rows; records with `multiLine`."""
    text = data.removeprefix(codecs.BOM_UTF8).decode(dialect.encoding, "replace")
    if dialect.separator is not None:
        lines = text.split(dialect.separator)
    else:
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.split("\n")
    lines = lines[dialect.skip :]
    if dialect.multi_line and dialect.quote and dialect.quote in text:
        lines = list(_join_quoted_lines(lines, dialect))
    return [
        line
        for line in lines
        if line and not line.isspace() and not (dialect.comment and line.startswith(dialect.comment))
    ]


def _join_quoted_lines(lines: list[str], dialect: CsvDialect) -> Iterator[str]:
    """Join lines while a quoted value is open; quotes within other values open none."""
    record: list[str] = []
    is_open = False
    for line in lines:
        record.append(line)
        if dialect.quote in line:
            is_open = dialect.ends_within_quotes(line, begins_within=is_open)
        if not is_open:
            yield "\n".join(record)
            record.clear()
    if record:
        yield "\n".join(record)


def header_names(row: Row) -> list[str]:
    """Return column names as Spark makes them: `_c<i>` for empty, a numeric suffix for repeated ones."""
    lower = [(name or "").lower() for name in row]
    names = []
    for index, name in enumerate(row):
        if not name:
            names.append(f"_c{index}")
        else:
            names.append(f"{name}{index}" if lower.count(name.lower()) > 1 else name)
    return names


def has_header(text: str | None, *, has_user_schema: bool) -> bool:
    """Return whether files have a header; by default they do if the schema is inferred (AL-1.5)."""
    return not has_user_schema if text is None else text.strip().lower() == "true"
