"""Names of datasets in SQL text: those of the legacy schema LIVE, and those of temporary views."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from lakeward.pipelines.graph.elements import has_live_catalog
from lakeward.quoting import quote_name
from lakeward.sql import Edit, Token, apply_edits, tokenize, unquote_token

_LIVE = re.compile(r"\blive\s*\.", re.IGNORECASE)


def blank_live(text: str) -> str:
    """Blank out the legacy schema LIVE before names of datasets; other characters stay in place.

    As in `without_live`, a longer name may begin with a catalog `live`.

    >>> blank_live("SELECT 'live.x' FROM LIVE.x, stream(live.y), a.live.z")
    "SELECT 'live.x' FROM      x, stream(     y), a.live.z"
    """
    if not _LIVE.search(text):
        return text
    tokens = tokenize(text) or ()
    out = text
    for i, token in enumerate(tokens[:-2]):
        is_schema = token.word == "LIVE" and tokens[i + 1].text == "." and tokens[i + 2].is_name
        is_first = i == 0 or tokens[i - 1].text != "."
        is_last = i + 3 >= len(tokens) or tokens[i + 3].text != "."
        if is_schema and is_first and (is_last or not has_live_catalog()):
            begin, end = token.start, tokens[i + 1].end
            out = out[:begin] + " " * (end - begin) + out[end:]
    return out


def with_temporary_names(text: str, names: Mapping[tuple[str, ...], str]) -> str:
    """Return SQL in which views of the catalog, `names`, have the names of the update's temporary views.

    >>> with_temporary_names("SELECT a.v.id FROM a.v", {("a", "v"): "a.v"})
    'SELECT `a.v`.id FROM `a.v`'
    """
    if not names:
        return text
    tokens = tokenize(text) or ()
    found = sorted(names, key=len, reverse=True)
    edits: list[Edit] = []
    for at, token in enumerate(tokens):
        if (edits and token.start < edits[-1].end) or (at and tokens[at - 1].text == "."):
            continue
        for name in found:
            parts = tokens[at : at + 2 * len(name) - 1]
            if len(parts) == 2 * len(name) - 1 and _is_name(parts, name):
                edits.append(Edit(token.start, parts[-1].end, quote_name([names[name]])))
                break
    return apply_edits(text, edits)


def _is_name(tokens: Sequence[Token], name: tuple[str, ...]) -> bool:
    return all(token.text == "." for token in tokens[1::2]) and all(
        token.is_name and unquote_token(token.text).lower() == part.lower()
        for token, part in zip(tokens[::2], name, strict=True)
    )
