"""Secrets are redacted in the output of real encoders, nested encodings and text that comes in pieces."""

from __future__ import annotations

import csv
import html
import io
import json
import shlex
import sys
import time
import xml.sax.saxutils
from collections.abc import Callable
from urllib.parse import quote, quote_plus, urlencode
from xml.etree import ElementTree as ET

import pandas as pd
import pytest
import yaml  # type: ignore[import-untyped]  # no stubs are installed
from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer

from lakeward.dbutils import REDACTED, Redactor, StreamRedactor, redact

# Each value begins and ends with a mark, and so does each line of it: no mark may be left in any output.
MARKS = ("Aq7a", "Zq9z")
SECRETS = {
    "plain": "Aq7asecretZq9z",
    **{
        f"with {char!r}": f"Aq7a{char}x{char}{char}Zq9z"
        for char in "&<>\"'\\\t%+ $#{}[]()/;:,=~*!?@|^`é漢😀\u2028"
    },
    "backslash n": r"Aq7a\nx\tZq9z",
    "entity": "Aq7a&amp;&lt;x&#39;Zq9z",
    "both quotes": "Aq7a'x\"yZq9z",
    "template": "Aq7a${a}{{b}}{0}%(c)s%20Zq9z",
    "all": "Aq7a & < > \" ' \\ \t % ü # ; Zq9z",
    "lines": 'Aq7a first & Zq9z\nAq7a <second> Zq9z\r\nAq7a "third" Zq9z',
    "service account": json.dumps(
        {"Aq7atype": "service_account", "private_key": "-----BEGIN\nab+/=\n-----END\n", "universe": "Zq9z"}
    ),
    "ends with a newline": "Aq7a&xZq9z\n",
    "long": "Aq7a" + "&\"'\\é" * 4000 + "Zq9z",
}
ENCODERS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "html": html.escape,
    "html text": lambda value: html.escape(value, quote=False),
    "pygments": lambda value: highlight(value, TextLexer(stripnl=False), HtmlFormatter()),
    "markdown": lambda value: MarkdownIt("commonmark").render(f"```\n{value}\n```"),
    "xml text": xml.sax.saxutils.escape,
    "xml attribute": lambda value: xml.sax.saxutils.escape(value, {'"': "&quot;", "'": "&apos;"}),
    "quoteattr": xml.sax.saxutils.quoteattr,
    "ElementTree": lambda value: ET.tostring(ET.Element("a", {"k": value}), "unicode"),
    "lxml": lambda value: xml.sax.saxutils.escape(
        value, {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
    ),
    "json": lambda value: json.dumps({"k": value}),
    "json unicode": lambda value: json.dumps([value], ensure_ascii=False),
    "json key": lambda value: json.dumps({value: 1}),
    "json script": lambda value: (
        json.dumps(value).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    ),
    "repr": repr,
    "repr with an apostrophe": lambda value: repr(f"it's {value}"),
    "repr of a list": lambda value: repr([{"k": (value,)}]),
    "repr of bytes": lambda value: repr(value.encode()),
    "ascii": ascii,
    "quote": quote,
    "quote all": lambda value: quote(value, safe=""),
    "quote plus": quote_plus,
    "urlencode": lambda value: urlencode({"k": value}),
    "encodeURIComponent": lambda value: quote(value, safe="!'()*"),
    "csv": lambda value: _csv(value),
    "shell": shlex.quote,
    "yaml": lambda value: yaml.safe_dump(
        {"k": value}, width=sys.maxsize, default_style='"', allow_unicode=True
    ),
    "yaml single": lambda value: yaml.safe_dump(
        [value], width=sys.maxsize, default_style="'", allow_unicode=True
    ),
    "sql literal": lambda value: "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'",
    "sql quotes": lambda value: "'" + value.replace("'", "''") + "'",
    "show": lambda value: value.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t"),
    "stripped": str.strip,
    "last line": lambda value: value.strip().splitlines()[-1],
    "indented": lambda value: "\n".join(f"    {line}" for line in value.splitlines()),
    "windows lines": lambda value: value.replace("\n", "\r\n"),
    "pandas html": lambda value: pd.DataFrame({"a": [value]}).to_html(),
}
OUTER = ("html", "pygments", "json", "json unicode", "repr", "quote all")
# YAML wraps a value in single quotes at its newlines and doubles them; pandas cuts cells at 50 characters.
LOSSY = {("yaml single", name) for name in ("lines", "ends with a newline")} | {
    ("pandas html", name) for name in ("service account", "long", "lines")
}
# YAML has escapes of its own for characters outside of ASCII.
YAML_ESCAPES = {("yaml", f"with {char!r}") for char in "\u2028😀"} | {("yaml single", "with '\\u2028'")}
OTHER = LOSSY | YAML_ESCAPES


def _csv(value: str) -> str:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerow(["a", value])
    return text.getvalue()


@pytest.mark.parametrize("encoder", ENCODERS)
def test_the_output_of_no_encoder_shows_a_secret(encoder: str) -> None:
    for name, secret in SECRETS.items():
        if (encoder, name) in OTHER:
            continue
        shown = redact(f"before {ENCODERS[encoder](secret)} after", [secret, "other"])
        assert not [mark for mark in MARKS if mark in shown], (name, shown)
        assert REDACTED in shown
        assert shown.startswith("before ")
        assert shown.endswith(" after")


@pytest.mark.parametrize("outer", OUTER)
def test_nested_encodings_do_not_show_a_secret(outer: str) -> None:
    redact = Redactor(SECRETS[name] for name in SECRETS if name != "long")
    for secret, value in SECRETS.items():
        if secret == "long":
            continue
        for encoder, encode in ENCODERS.items():
            if (encoder, secret) not in OTHER:
                shown = redact(ENCODERS[outer](encode(value)))
                assert not [mark for mark in MARKS if mark in shown], (secret, encoder, shown)


def test_text_without_a_secret_is_left_alone() -> None:
    redact = Redactor(SECRETS.values())
    text = "".join(map(chr, range(32, 0x3000))) + json.dumps(list(ENCODERS)) + "{}[]()&amp;\\n"
    assert redact(text) == text
    assert Redactor([]).__call__(text) == text


def test_what_databricks_does_not_redact_is_not_redacted_either() -> None:
    assert redact("terces s e c r e t c2VjcmV0", ["secret"]) == "terces s e c r e t c2VjcmV0"


def test_short_lines_of_a_document_are_no_secrets() -> None:
    document = json.dumps({"key": "Aq7avalue"}, indent=2)
    assert redact("f(x) = {\n}", [document]) == "f(x) = {\n}"
    assert redact('  "key": "Aq7avalue"', [document]) == f"  {REDACTED}"


def test_overlapping_secrets_become_one() -> None:
    assert redact("abcdef", ["abc", "bcdef"]) == REDACTED
    assert redact("ababab", ["abab"]) == REDACTED
    assert redact("abab", ["ab"]) == REDACTED * 2
    assert redact("[REDACTED] ACT", ["ACT"]) == "[RED[REDACTED]ED] [REDACTED]"


def test_values_of_documents_are_redacted_and_their_names_are_not() -> None:
    document = {"a s3cret": [{"b": "s3cret", "c": 1, "d": None}, ("s3cret",)]}
    assert Redactor(["s3cret"]).value(document) == {
        "a s3cret": [{"b": REDACTED, "c": 1, "d": None}, (REDACTED,)]
    }


@pytest.mark.parametrize("ascii_only", [True, False])
def test_json_stays_json_without_its_secrets(ascii_only: bool) -> None:
    for secret in [*SECRETS.values(), '": "', "{", ", ", "12"]:
        document = {"k": [secret, {secret: 112.5, "n": None}], "o": [1e30, -7, True, "\\", '"']}
        text = json.dumps(document, ensure_ascii=ascii_only)
        shown = Redactor([secret]).json(text)
        found = json.loads(shown)
        assert REDACTED in found["k"][1]
        assert found["k"][1]["n"] is None
        assert not [mark for mark in MARKS if mark in shown]
        assert Redactor(["other"]).json(text) == text


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("encoder", ["as it is", "html", "json", "repr", "quote"])
def test_a_secret_in_pieces_is_redacted(encoder: str, size: int) -> None:
    names = [name for name in SECRETS if name != "long"]
    text = " | ".join(ENCODERS[encoder](SECRETS[name]) for name in names)
    redactor = Redactor(SECRETS[name] for name in names)
    stream = StreamRedactor(lambda: redactor)
    pieces = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join([*pieces, stream.finish()]) == redactor(text)


def test_only_what_may_be_a_secret_waits() -> None:
    redactor = Redactor(["s3cret", "s3cret-and-more", "token"])
    stream = StreamRedactor(lambda: redactor)
    assert stream.feed("What is it? ") == "What is it? "
    assert stream.feed("a s3") == "a "
    assert stream.feed("cond") == "s3cond"
    assert stream.feed(" s3cret") == " "
    assert stream.feed("-and-more\n") == f"{REDACTED}\n"
    assert stream.feed("s3cre") == ""
    # The end of a whole secret is the beginning of another.
    assert stream.feed("t") == ""
    assert stream.feed("oken") == REDACTED
    assert stream.feed("s3cr") == ""
    assert stream.finish() == "s3cr"


def test_redaction_keeps_up_with_a_large_log() -> None:
    redact = Redactor([f"secret-number-{number}&\"'" for number in range(50)])
    line = "2026-11-22 10:00:00 INFO nothing to see, all is well & good\n" * 20_000
    began = time.perf_counter()
    assert redact(line) == line
    assert time.perf_counter() - began < 1
