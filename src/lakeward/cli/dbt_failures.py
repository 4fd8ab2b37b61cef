"""What explains the errors of a run of dbt: where the tables are that its models did not find."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lakeward.session import Settings

_RESULTS = "run_results.json"
_FAILED = ("error", "runtime error")
_MOST_TABLES = 5


def results_file(project: Path, content: Mapping[str, Any], given: str | None) -> Path:
    """Return the file in which dbt writes the results of its newest command.

    Args:
        project: The folder of the project.
        content: The content of its `dbt_project.yml`.
        given: The folder of the option `--target-path`.
    """
    folder = given or os.environ.get("DBT_TARGET_PATH") or str(content.get("target-path") or "target")
    return project / folder / _RESULTS


def failure_hints(results: Path, since: float, settings: Settings) -> list[str]:
    """Return what explains the errors of the newest command, and what to do next.

    Args:
        results: The file with the results.
        since: When the command was started; results of an earlier one have no part in its errors.
        settings: The lakehouse of the command.
    """
    from lakeward.hints import hints_of
    from lakeward.seeds import missing_tables, seed_hint

    text = "\n".join(dict.fromkeys(_messages(results, since)))
    names = list(dict.fromkeys(".".join(name) for name in missing_tables(text)))
    hints = [hint for hint in hints_of(text, settings) if hint not in map(seed_hint, names)]
    unknown = [name for name in names if not any(_is_named(name, hint) for hint in hints)]
    return [*hints, *_seeds(unknown)]


def _messages(results: Path, since: float) -> Iterator[str]:
    try:
        if results.stat().st_mtime < since:
            return
        content = json.loads(results.read_bytes())
    except (OSError, ValueError):
        return
    for each in content.get("results") or ():
        if each.get("status") in _FAILED:
            yield str(each.get("message") or "")


def _is_named(table: str, hint: str) -> bool:
    return table in hint or f"`{table.rpartition('.')[2]}`" in hint


def _seeds(tables: list[str]) -> Iterator[str]:
    """Yield how to get tables that nothing in the repository creates: sources, in most projects."""
    from lakeward.seeds import seed_hint

    if len(tables) == 1:
        yield seed_hint(tables[0])
    elif tables:
        more = f" and {len(tables) - _MOST_TABLES} more" if len(tables) > _MOST_TABLES else ""
        yield (
            f"Nothing in the repository creates {', '.join(tables[:_MOST_TABLES])}{more}. Tables of your "
            f"workspace get rows with `lakeward seed {tables[0]} --from FILE`, or with "
            f"`lakeward pull {tables[0]} --limit 1000`."
        )
