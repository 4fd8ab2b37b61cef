"""Generates the options page from the option table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from lakeward.autoloader.options.option_table import OPTIONS, PREFIX, Option

_HEAD = """\
# Auto Loader options

Keys and formats are case-insensitive; values are strings, booleans or numbers. [Auto Loader](auto-loader.md)
has examples. This page is generated from the table in `lakeward.autoloader.options`.

| status | meaning |
|---|---|
| supported | works as on Databricks |
| accepted | no effect here; `start` issues a warning without the value |

An unknown key with the prefix `cloudFiles.` fails at `start` with `CF_UNKNOWN_OPTION_KEYS_ERROR`
(`cloudFiles.validateOptions=false` skips the check). Other unknown keys are ignored. Incompatible
combinations (assumed): credentials without notifications, incremental listing with notifications, options of
other discovery modes with managed file events, `cleanSource` with `allowOverwrites`.
"""


def as_markdown(options: Iterable[Option] = OPTIONS) -> str:
    """Return the options page, in four tables."""
    rows = list(options)
    parts = [_HEAD]
    for title, chosen in _SECTIONS:
        parts += [f"\n## {title}\n\n", *_table(row for row in rows if chosen(row))]
    return "".join(parts)


_SECTIONS: tuple[tuple[str, Callable[[Option], bool]], ...] = (
    ("Options with the prefix `cloudFiles.`", lambda row: row.key.startswith(PREFIX) and not row.secret),
    ("Credentials", lambda row: row.secret),
    ("File options", lambda row: not row.key.startswith(PREFIX) and not row.secret and not row.formats),
    ("Format options", lambda row: bool(row.formats)),
)


def _table(rows: Iterable[Option]) -> Iterator[str]:
    """Yield one row per option in the order of declaration."""
    yield "| option | type | default | formats | status | note |\n|---|---|---|---|---|---|\n"
    for row in rows:
        default = "" if row.default is None else f"`{row.default}`"
        kind = " / ".join(row.choices) if row.choices else row.kind
        cells = (f"`{row.key}`", kind, default, ", ".join(row.formats) or "all", row.verdict, row.note)
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
