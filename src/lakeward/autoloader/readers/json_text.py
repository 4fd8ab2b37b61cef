"""JSON text to the raw members of its records: encodings, lines, deviations from strict JSON (AL-1.5)."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from lakeward.autoloader.options.option_values import Options

_TOKEN = re.compile(
    rb'"(?:[^"\\]|\\.)*"'
    rb"|'(?:[^'\\]|\\.)*'"
    rb"|/\*.*?\*/|//[^\n]*"
    rb"|[+-]?(?:NaN|Infinity|INF)\b"
    rb"|(?P<name>[A-Za-z_$][\w$]*(?=\s*:))"
    rb"|-?0\d+(?=[\s,\]}.eE]|$)"
    rb"|-?\d[\w.+-]*"
    rb"|[^\"'/NIa-zA-Z_$0-9+-]+|.",
    re.DOTALL,
)
_ESCAPED = re.compile(rb"\\(.)", re.DOTALL)
_CONTROL = re.compile(rb"[\x00-\x1f]")


@dataclass(frozen=True)
class JsonLeniency:
    """The deviations from strict JSON that are accepted; the defaults are Spark's."""

    single_quotes: bool = True
    words: bool = True
    comments: bool = False
    unquoted_names: bool = False
    leading_zeros: bool = False
    any_escape: bool = False
    control_characters: bool = False
    number: bytes | None = None
    """What replaces `NaN` and the like, None for strings."""

    @classmethod
    def of(cls, options: Options) -> JsonLeniency:
        """Create the settings from the options."""
        return cls(
            options.flag("allowSingleQuotes"),
            options.flag("allowNonNumericNumbers"),
            options.flag("allowComments"),
            options.flag("allowUnquotedFieldNames"),
            options.flag("allowNumericLeadingZeros"),
            options.flag("allowBackslashEscapingAnyCharacter"),
            options.flag("allowUnquotedControlChars"),
        )

    def strict(self, line: bytes) -> bytes | None:
        """Return the text in strict JSON, `NaN` and the like as strings; None if it is unchanged."""
        out = [self._strict(match[0], is_name=match["name"] is not None) for match in _TOKEN.finditer(line)]
        strict = b"".join(out)
        return None if strict == line else strict

    def _strict(self, token: bytes, *, is_name: bool) -> bytes:
        first = token[:1]
        if first == b'"' and len(token) > 1:
            return self._text(token)
        if first == b"'" and len(token) > 1 and self.single_quotes:
            inner = token[1:-1].replace(b"\\'", b"'")
            return self._text(b'"' + re.sub(rb'(?<!\\)"', rb'\\"', inner) + b'"')
        if self.comments and token[:2] in (b"/*", b"//"):
            return b" "
        if self.words and token.lstrip(b"+-") in (b"NaN", b"Infinity", b"INF"):
            return self.number or b'"' + token + b'"'
        if self.leading_zeros and token.lstrip(b"-")[:1] == b"0" and token.lstrip(b"-").isdigit():
            return token[: token.startswith(b"-")] + (token.lstrip(b"-").lstrip(b"0") or b"0")
        return b'"' + token + b'"' if is_name and self.unquoted_names else token

    def _text(self, token: bytes) -> bytes:
        if self.any_escape and b"\\" in token:
            token = _ESCAPED.sub(lambda m: m[0] if m[1] in b'"\\/bfnrtu' else m[1], token)
        if self.control_characters:
            token = _CONTROL.sub(lambda m: b"\\u%04x" % m[0][0], token)
        return token


raw_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
"""The members of a JSON object by name, with their values as JSON text."""
elements = msgspec.json.Decoder(list[msgspec.Raw]).decode
"""The elements of a JSON array, as JSON text."""
_check = msgspec.json.Decoder(msgspec.Raw).decode
_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")


def count_object_lines(data: bytes) -> int | None:
    """Return the number of lines if all line breaks separate two objects, else None.

    Then no line holds a part of a record. Compare with the number of records to exclude lines with several.
    """
    data = data.rstrip(b"\n")
    if not (data.startswith(b"{") and data.endswith(b"}")):
        return None
    breaks = data.count(b"\n")
    return breaks + 1 if data.count(b"}\n{") == breaks else None


def parts_of_lines(data: bytes, size: int) -> Iterator[bytes]:
    """Yield whole lines of a text, at least `size` bytes at a time.

    >>> list(parts_of_lines(b"ab\\nc\\nd", 2))
    [b'ab\\n', b'c\\n', b'd']
    """
    first = 0
    while first < len(data):
        end = data.find(b"\n", first + size - 1) + 1 or len(data)
        yield data[first:end]
        first = end


class InvalidJson(ValueError):
    """Text that is not a JSON object."""


@dataclass(frozen=True)
class JsonText:
    """Encoding, line separator and leniency of the JSON files of a stream."""

    encoding: str
    separator: str | None
    leniency: JsonLeniency

    @classmethod
    def of(cls, options: Options) -> JsonText:
        """Create the settings from the options."""
        separator = options.line_separator
        return cls(options.encoding, None if separator == "\n" else separator, JsonLeniency.of(options))

    def lines(self, data: bytes) -> bytes:
        """Return UTF-8 lines that end in a newline, whatever the file's encoding and separator."""
        if data.startswith(codecs.BOM_UTF8):
            data = data.removeprefix(codecs.BOM_UTF8)
        elif self.encoding != "utf-8":
            data = data.decode(self.encoding, "replace").encode()
        if self.separator is not None:
            return data.replace(self.separator.encode(), b"\n")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data

    def members(self, line: bytes) -> list[dict[str, bytes]]:
        """Return the objects of a line, one or an array; raise InvalidJson.

        Text after the first value is ignored, as in Spark.
        """
        first = self.value(line)
        if not first:
            return []
        objects = elements(first) if first[:1] == b"[" else [msgspec.Raw(first)]
        if any(bytes(item)[:1] != b"{" for item in objects):
            raise InvalidJson("it is not a JSON object")
        return [{key: bytes(raw) for key, raw in raw_members(item).items()} for item in objects]

    def value(self, line: bytes) -> bytes:
        """Return the first value of a line as strict JSON, empty for comments only; raise InvalidJson."""
        first = _first_value(line)
        if first is None:
            strict = self.leniency.strict(line)
            if strict is not None and not strict.strip():
                return b""
            first = None if strict is None else _first_value(strict)
        if first is None:
            raise InvalidJson("it is not valid JSON")
        return first


def _first_value(line: bytes) -> bytes | None:
    """Return the bytes of the first value, validated; None if it is not JSON."""
    for _ in range(2):
        try:
            _check(line)
            line.decode()
            return line.strip()
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            match = _TRAILING.search(str(error))
            if match is None:
                return None
            line = line[: int(match[1]) - 1]
    return None
