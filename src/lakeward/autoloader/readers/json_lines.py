"""Text of a JSON file → records as raw members, with the leniency of Spark's parser."""

from __future__ import annotations

import re
from dataclasses import dataclass

import msgspec

from lakeward.autoloader.options import Options
from lakeward.autoloader.readers.lenient import Leniency

__all__ = ["JsonText", "Malformed", "plain_lines"]

_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_elements = msgspec.json.Decoder(list[msgspec.Raw]).decode
_check = msgspec.json.Decoder(msgspec.Raw).decode
_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")


def plain_lines(data: bytes) -> int | None:
    """The number of lines, where every line break stands between two objects; None elsewhere.

    Then a line holds no part of a record alone. That it holds no second one is told by the number of records.
    """
    data = data.rstrip(b"\n")
    if not (data.startswith(b"{") and data.endswith(b"}")):
        return None
    breaks = data.count(b"\n")
    return breaks + 1 if data.count(b"}\n{") == breaks else None


class Malformed(ValueError):
    """Text that is no JSON object."""


@dataclass(frozen=True)
class JsonText:
    """How JSON files of one stream are written."""

    encoding: str | None
    separator: str | None
    leniency: Leniency

    @classmethod
    def of(cls, options: Options) -> JsonText:
        """As the options say."""
        encoding = options.text("charset") or str(options.text("encoding"))
        separator = options.text("lineSep")
        return cls(
            None if encoding.upper().replace("_", "-") in ("UTF-8", "UTF8") else encoding,
            None if separator == "\n" else separator,
            Leniency.of(options),
        )

    def lines(self, data: bytes) -> bytes:
        """UTF-8 lines that end in a newline each, whatever the file's encoding and separator."""
        if data.startswith(b"\xef\xbb\xbf"):
            data = data[3:]
        elif self.encoding is not None:
            data = data.decode(self.encoding, "replace").encode()
        if self.separator is not None:
            return data.replace(self.separator.encode(), b"\n")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data

    def members(self, line: bytes) -> list[dict[str, bytes]]:
        """The objects of a line, one or an array of them; text behind the first value is ignored as in Spark.

        Raises Malformed.
        """
        first = self.value(line)
        if not first:
            return []
        objects = _elements(first) if first[:1] == b"[" else [msgspec.Raw(first)]
        if any(bytes(item)[:1] != b"{" for item in objects):
            raise Malformed("it is not a JSON object")
        return [{key: bytes(raw) for key, raw in _members(item).items()} for item in objects]

    def value(self, line: bytes) -> bytes:
        """The first value of a line in strict JSON; empty where only comments are. Raises Malformed."""
        first = _first_value(line)
        if first is None:
            strict = self.leniency.strict(line)
            if strict is not None and not strict.strip():
                return b""
            first = None if strict is None else _first_value(strict)
        if first is None:
            raise Malformed("it is not valid JSON")
        return first


def _first_value(line: bytes) -> bytes | None:
    """The bytes of the first value, checked whole; None when it is no JSON."""
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
