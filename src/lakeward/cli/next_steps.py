"""The commands that make sense after a run."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakeward.pipelines import DatasetResult

READABLE = ("materialized_view", "streaming_table")


def next_commands(
    datasets: Sequence[DatasetResult], *, prefix: str, target: str | None, events_of: str | None
) -> list[str]:
    """Return commands for the last completed table, and the report and events of the pipeline `events_of`.

    `prefix` goes before the table's name (`catalog.schema.` where the shell starts elsewhere), `target`
    is the `-t` that the commands need, None without a target.
    """
    at = f" -t {shlex.quote(target)}" if target else ""
    commands = []
    done = [each for each in datasets if each.kind in READABLE and each.state == "COMPLETED"]
    if done:
        best = max(done, key=lambda each: (each.kind == "materialized_view", done.index(each)))
        look = " ".join(["select * from", _qualified(prefix, best.name), "limit 5"])
        commands.append(f'lakeward sql{at} -e "{look}"')
    if events_of:
        commands.append(f"lakeward report {shlex.quote(events_of)}{at}")
        commands.append(f"lakeward events {shlex.quote(events_of)}{at}")
    return commands


def _qualified(prefix: str, name: str) -> str:
    """Complete the name of a dataset, which may have its own schema, or catalog and schema.

    >>> _qualified("main.sales.", "orders"), _qualified("main.sales.", "raw.orders")
    ('main.sales.orders', 'main.raw.orders')
    """
    missing = 2 - name.count(".")
    return ".".join([*prefix.split(".")[:missing], name]) if prefix else name
