"""Replace secrets in text by `[REDACTED]`, in every form in which an encoder writes them.

A secret that is embedded in HTML, JSON, a Python `repr`, a URL, CSV, SQL or shell text appears escaped.
`Redactor` computes the escaped forms of each value once, then searches text for all of them. Values that
need no escaping have one form, so the usual case costs one substring search per secret.

Transformations that hide a value on purpose (base64, reversed, letters spaced out) are not searched for:
Databricks does not redact them either. https://docs.databricks.com/aws/en/security/secrets/redaction
"""

from __future__ import annotations

import html
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import quote

REDACTED = "[REDACTED]"

_SHORTEST_LINE = 4
"""Shorter lines of a multi-line secret, such as `{` of a JSON document, occur in any text."""

_NESTED_UP_TO = 16 * 1024
"""Longer values get one level of escaping only, because two levels make hundreds of copies."""

_HELD = 8 * 1024
"""Maximum number of characters held back for the rest of a secret."""

_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*', re.DOTALL)
_INERT = re.compile(r"[A-Za-z0-9]+")


def _mapped(table: Mapping[str, str]) -> Callable[[str], str]:
    translation = str.maketrans(dict(table))
    return lambda value: value.translate(translation)


def _url(safe: str, *, plus: bool = False, lower: bool = False, tilde: bool = False) -> Callable[[str], str]:
    def escape(value: str) -> str:
        text = quote(value, safe=safe, errors="surrogatepass")
        text = text.replace("~", "%7E") if tilde else text
        text = text.replace("%20", "+") if plus else text
        return re.sub("%..", lambda match: match[0].lower(), text) if lower else text

    return escape


def _json(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)[1:-1]


def _json_ascii(value: str) -> str:
    return json.dumps(value)[1:-1]


def _json_upper(value: str) -> str:
    return re.sub(r"\\u....", lambda match: "\\u" + match[0][2:].upper(), _json_ascii(value))


def _repr(value: str) -> str:
    """Escape as `repr` does, except for quotes: which one is escaped depends on the text around it."""
    return "".join(char if char in "'\"" else repr(char)[1:-1] for char in value)


def _ascii(value: str) -> str:
    return "".join(char if char in "'\"" else ascii(char)[1:-1] for char in value)


def _bytes_repr(value: str) -> str:
    encoded = value.encode("utf-8", "surrogatepass")
    return "".join(chr(byte) if byte in b"'\"" else repr(bytes([byte]))[2:-1] for byte in encoded)


def _then(first: Callable[[str], str], *pairs: tuple[str, str]) -> Callable[[str], str]:
    def escape(value: str) -> str:
        text = first(value)
        for old, new in pairs:
            text = text.replace(old, new)
        return text

    return escape


_CONTROL = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f", "\b": "\\b", "\v": "\\v", "\a": "\\a"}
_APOSTROPHE, _QUOTE = ("'", "\\'"), ('"', '\\"')
_MARKUP = (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026"))

_HTML: Sequence[Callable[[str], str]] = (
    html.escape,  # &quot; and &#x27;
    lambda value: html.escape(value, quote=False),  # pandas, and text between tags in general
    _then(lambda value: html.escape(value, quote=False), ('"', "&quot;")),  # markdown
    _mapped({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}),  # pygments, jinja
    _mapped({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;"}),  # markupsafe, Go
    _mapped({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"}),  # XML
)
_JSON: Sequence[Callable[[str], str]] = (
    _json,
    _json_ascii,
    _json_upper,
    _then(_json, ("/", "\\/")),
    _then(_json_ascii, ("/", "\\/")),
    _then(_json, *_MARKUP),  # Go
    _then(_json_ascii, *_MARKUP),
    _then(_json_ascii, *_MARKUP, ("'", "\\u0027")),
)
_PYTHON: Sequence[Callable[[str], str]] = (
    _repr,
    _then(_repr, _APOSTROPHE),
    _ascii,
    _then(_ascii, _APOSTROPHE),
    _then(_ascii, _QUOTE),
    _bytes_repr,
    _then(_bytes_repr, _APOSTROPHE),
)
_MARKUP_TEXT = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_REFERENCES = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
_OTHERS: Sequence[Callable[[str], str]] = (
    _mapped({**_MARKUP_TEXT, **_REFERENCES}),  # attributes of XML
    _mapped({**_MARKUP_TEXT, **_REFERENCES, '"': "&quot;"}),  # lxml
    _mapped({**_MARKUP_TEXT, **_REFERENCES, '"': "&quot;", "\t": "&#09;"}),  # ElementTree
    _mapped(_CONTROL),  # DataFrame.show() writes \n for a newline and leaves backslashes alone
    _mapped({"\\": "\\\\", "'": "\\'"}),  # a SQL literal in a plan or an error of Spark's
    _mapped({"\\": "\\\\", '"': '\\"'}),
    _mapped({'"': '""'}),  # CSV
    _mapped({"'": "''"}),  # SQL, YAML
    _mapped({"'": "'\"'\"'"}),  # a shell's single quotes
    _mapped({"'": "'\\''"}),
    _then(lambda value: value, ("\r\n", "\n")),
    _then(lambda value: value, ("\n", "\r\n")),
)
_URL: Sequence[Callable[[str], str]] = tuple(
    _url(safe, plus=plus, lower=lower, tilde=tilde)
    for lower in (False, True)
    for safe, plus, tilde in (
        ("", False, False),
        ("/", False, False),
        ("", True, False),
        ("/", True, False),
        ("!'()*", False, False),  # encodeURIComponent
        (";,/?:@&=+$#!'()*", False, False),  # encodeURI
        ("*", True, True),  # java.net.URLEncoder
    )
)
_ESCAPERS = (*_HTML, *_JSON, *_PYTHON, *_OTHERS, *_URL)
_OUTER = (*_HTML[:4], *_JSON[:2], *_PYTHON[:2], _URL[0])
"""What text that holds an escaped value is itself escaped with, such as a `repr` shown on a page."""


@lru_cache(maxsize=1024)
def escaped_forms(value: str) -> frozenset[str]:
    """Return `value` and what encoders make of it, with up to two levels of escaping.

    >>> sorted(escaped_forms("plain"))
    ['plain']
    """
    once = {value, *(escape(value) for escape in _ESCAPERS)}
    if len(value) > _NESTED_UP_TO or len(once) == 1:
        return frozenset(once)
    return frozenset(once | {outer(form) for form in once for outer in _OUTER})


def _pieces(value: str) -> Iterator[str]:
    """Return the value without surrounding white space, and its lines: logs are read line by line."""
    if not value.strip():
        return
    yield value
    yield value.strip()
    lines = value.splitlines()
    if len(lines) > 1:
        yield from (line for line in map(str.strip, lines) if len(line) >= _SHORTEST_LINE)


def _needle(piece: str) -> str:
    """Return the longest run of letters and digits: encoders do not change it, so every form contains it."""
    return max(_INERT.findall(piece), key=len, default="")


class Redactor:
    """Replaces the secrets `values` in text. Immutable, so threads may share one.

    >>> Redactor(['a<"b'])('{"key": "a<\\\\"b"} and a&lt;&quot;b')
    '{"key": "[REDACTED]"} and [REDACTED]'
    """

    def __init__(self, values: Iterable[str]) -> None:
        pieces = {piece for value in values for piece in _pieces(value)}
        self._groups = [(_needle(piece), escaped_forms(piece)) for piece in pieces]
        self._sorted: list[str] | None = None
        self._longest = 0
        self._first: frozenset[str] = frozenset()

    def __call__(self, text: str) -> str:
        """Return `text` with each occurrence of a secret replaced; overlapping ones become one."""
        spans = sorted(self._spans(text))
        if not spans:
            return text
        parts: list[str] = []
        at, (start, end) = 0, spans[0]
        for first, last in spans[1:]:
            if first >= end:
                parts += [text[at:start], REDACTED]
                at, start, end = end, first, last
            end = max(end, last)
        return "".join([*parts, text[at:start], REDACTED, text[end:]])

    def value(self, value: Any) -> Any:
        """Return a copy of a JSON-like value with all its strings redacted, except for keys."""
        if isinstance(value, str):
            return self(value)
        if isinstance(value, Mapping):
            return {key: self.value(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self.value(each) for each in value]
        if isinstance(value, tuple):
            return tuple(self.value(each) for each in value)
        return value

    def occurs(self, text: str) -> bool:
        """Return whether a secret is in the text."""
        return next(self._spans(text), None) is not None

    def json(self, text: str) -> str:
        """Return a JSON text with its strings, keys and numbers redacted; it stays valid JSON.

        >>> Redactor(["12", ", "])('["a", 123]'), Redactor(["12", ", "]).json('["a", 123]')
        ('["a"[REDACTED][REDACTED]3]', '["a", "[REDACTED]3"]')
        """
        return _JSON_TOKEN.sub(self._token, text)

    def _token(self, match: re.Match[str]) -> str:
        token = match[0]
        if not token.startswith('"'):
            shown = self(token)
            return token if shown == token else f'"{shown}"'
        value = json.loads(token, strict=False)
        shown = self(value)
        return token if shown == value else json.dumps(shown, ensure_ascii=False)

    def ready(self, text: str) -> int:
        """Return the length of the prefix of `text` that can be redacted without seeing more text.

        The text after it may be the beginning of a secret, or is a secret that may be the beginning of a
        longer one.
        """
        forms = self._in_order()
        window = range(max(0, len(text) - min(self._longest, _HELD) + 1), len(text))
        end = next((at for at in window if text[at] in self._first and _begins(forms, text[at:])), len(text))
        for start, stop in sorted(self._spans(text), reverse=True):
            if start < end < stop:
                end = start
        return end

    def _in_order(self) -> list[str]:
        if self._sorted is None:
            self._sorted = sorted({form for _, forms in self._groups for form in forms})
            self._longest = max(map(len, self._sorted), default=0)
            self._first = frozenset(form[0] for form in self._sorted)
        return self._sorted

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        for needle, forms in self._groups:
            if needle not in text:
                continue
            for form in forms:
                # An occurrence may overlap the one before it, as "abab" in "ababab".
                step = 1 if len(form) <= _NESTED_UP_TO else len(form)
                at = text.find(form)
                while at >= 0:
                    yield at, at + len(form)
                    at = text.find(form, at + step)


class StreamRedactor:
    """Redacts text that arrives in pieces: a secret may be split over two of them.

    Only the end of a piece that may be the beginning of a secret is held back. `redactor` is called for each
    piece, since secrets may be added. Not thread-safe.
    """

    def __init__(self, redactor: Callable[[], Redactor]) -> None:
        self._redactor = redactor
        self._held = ""

    def feed(self, text: str) -> str:
        """Return the text that can be shown so far."""
        redactor = self._redactor()
        text = self._held + text
        end = redactor.ready(text)
        self._held = text[end:]
        return redactor(text[:end])

    def finish(self) -> str:
        """Return the text that was held back."""
        held, self._held = self._held, ""
        return self._redactor()(held)


def _begins(forms: list[str], text: str) -> bool:
    """Return whether one of the sorted `forms` begins with `text` and is longer."""
    place = bisect_right(forms, text)
    return place < len(forms) and forms[place].startswith(text)
