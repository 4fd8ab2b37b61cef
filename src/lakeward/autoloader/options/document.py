"""The page of options, from the table of their declaration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from lakeward.autoloader.options.declared import OPTIONS, PREFIX, Option

__all__ = ["as_markdown"]

_HEAD = """\
# Auto Loader's options

Keys and formats in any case, values as text, booleans or numbers. The page is generated from the table in
`lakeward.autoloader.options`; [Auto Loader](auto-loader.md) shows them at work.

| here | meaning |
|---|---|
| supported | does what Databricks does |
| accepted | no effect here; `start` warns once that it is set, and shows no value |

An unknown key that begins with `cloudFiles.` fails at `start` with `CF_UNKNOWN_OPTION_KEYS_ERROR`
(`cloudFiles.validateOptions=false` skips that). Other unknown keys are ignored. These are refused together
(assumed): credentials without notifications, incremental listing with notifications, keys of the other ways
to find files with managed file events, `cleanSource` with `allowOverwrites`.
"""


def as_markdown(options: Iterable[Option] = OPTIONS) -> str:
    """The whole page, in four tables."""
    rows = list(options)
    parts = [_HEAD]
    for title, chosen in _SECTIONS:
        parts += [f"\n## {title}\n\n", *_table(row for row in rows if chosen(row))]
    return "".join(parts)


_SECTIONS: tuple[tuple[str, Callable[[Option], bool]], ...] = (
    ("With the prefix", lambda row: row.key.startswith(PREFIX) and not row.secret),
    ("Credentials", lambda row: row.secret),
    ("Any format", lambda row: not row.key.startswith(PREFIX) and not row.secret and not row.formats),
    ("Of some formats", lambda row: bool(row.formats)),
)


def _table(rows: Iterable[Option]) -> Iterator[str]:
    """One row an option, in the order of their declaration."""
    yield "| option | type | default | formats | here | note |\n|---|---|---|---|---|---|\n"
    for row in rows:
        default = "" if row.default is None else f"`{row.default}`"
        kind = " / ".join(row.choices) if row.choices else row.kind
        cells = (f"`{row.key}`", kind, default, ", ".join(row.formats) or "all", row.verdict, row.note)
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
