"""JSON with what Jackson takes beyond the standard → strict JSON (auto-loader.md §1.5)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lakeward.autoloader.options import Options

__all__ = ["Leniency"]

_TOKEN = re.compile(
    rb'"(?:[^"\\]|\\.)*"'
    rb"|'(?:[^'\\]|\\.)*'"
    rb"|/\*.*?\*/|//[^\n]*"
    rb"|[+-]?(?:NaN|Infinity|INF)\b"
    rb"|[A-Za-z_$][\w$]*(?=\s*:)"
    rb"|-?0\d+(?=[\s,\]}.eE]|$)"
    rb"|-?\d[\w.+-]*"
    rb"|[^\"'/NIa-zA-Z_$0-9+-]+|.",
    re.DOTALL,
)
_ESCAPED = re.compile(rb"\\(.)", re.DOTALL)
_CONTROL = re.compile(rb"[\x00-\x1f]")


@dataclass(frozen=True)
class Leniency:
    """What is taken; the defaults are Spark's."""

    single_quotes: bool = True
    words: bool = True
    comments: bool = False
    unquoted_names: bool = False
    leading_zeros: bool = False
    any_escape: bool = False
    control_characters: bool = False

    @classmethod
    def of(cls, options: Options) -> Leniency:
        """As the options say."""
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
        """The text in strict JSON, `NaN` and the like as strings; None if there is nothing to change."""
        out = [self._strict(token) for token in _TOKEN.findall(line)]
        strict = b"".join(out)
        return None if strict == line else strict

    def _strict(self, token: bytes) -> bytes:
        first = token[:1]
        if first == b'"' and len(token) > 1:
            return self._text(token)
        if first == b"'" and len(token) > 1 and self.single_quotes:
            inner = token[1:-1].replace(b"\\'", b"'")
            return self._text(b'"' + re.sub(rb'(?<!\\)"', rb'\\"', inner) + b'"')
        if self.comments and token[:2] in (b"/*", b"//"):
            return b" "
        if self.words and token.lstrip(b"+-") in (b"NaN", b"Infinity", b"INF"):
            return b'"' + token + b'"'
        if self.leading_zeros and token.lstrip(b"-")[:1] == b"0" and token.lstrip(b"-").isdigit():
            return token[: token.startswith(b"-")] + (token.lstrip(b"-").lstrip(b"0") or b"0")
        if self.unquoted_names and (first.isalpha() or first in (b"_", b"$")) and len(token) >= 1:
            return token if token in (b"true", b"false", b"null") else b'"' + token + b'"'
        return token

    def _text(self, token: bytes) -> bytes:
        if self.any_escape and b"\\" in token:
            token = _ESCAPED.sub(lambda m: m[0] if m[1] in b'"\\/bfnrtu' else m[1], token)
        if self.control_characters:
            token = _CONTROL.sub(lambda m: b"\\u%04x" % m[0][0], token)
        return token
