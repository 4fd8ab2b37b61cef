"""The hint that what an error does not find is in the lakehouse of another target of the same folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakeward.session import Settings

_VOLUME = re.compile(r"(?<![\w.-])(?:dbfs:|file:|/dbfs)?/Volumes/(?P<name>[\w-]+/[\w-]+/[\w-]+)")
_NO_FILE = re.compile(r"PATH_NOT_FOUND|CF_PATH_DOES_NOT_EXIST|FileNotFound|No such file or directory")
_NO_DATASET = re.compile(r"`(?P<name>[^`\s]+)` is neither a dataset of this pipeline nor a table")
# The lakehouse of commands outside of bundles.
_WITHOUT_BUNDLE = "local"


def other_lakehouse_hint(text: str, settings: Settings) -> str | None:
    """Return which other lakehouse has what the error `text` does not find; None if none has it."""
    for shown, below in _missing(text):
        for state in _other_states(settings):
            if _has_files(state / below):
                return (
                    f"{shown} is in the lakehouse `{state.name}` of this folder, and this command used "
                    f"`{settings.target}`. {_cure(state.name, settings.target)}"
                )
    return None


def _missing(text: str) -> Iterator[tuple[str, Path]]:
    """Yield the names that an error does not find, and where a lakehouse keeps each."""
    from lakeward.seeds import missing_table
    from lakeward.session import missing_catalog, missing_schema

    if _NO_FILE.search(text):
        for found in _VOLUME.finditer(text):
            yield f"/Volumes/{found['name']}", Path("volumes", found["name"].lower())
    dataset = _NO_DATASET.search(text)
    table = dataset["name"].split(".") if dataset else missing_table(text)
    if table is not None and len(table) == 3:
        yield ".".join(table), Path("warehouse", *map(str.lower, table))
    schema = missing_schema(text)
    parts = (schema or "").replace("`", "").split(".")
    if len(parts) == 2:
        yield f"The schema {schema}", Path("warehouse", *map(str.lower, parts))
    if catalog := missing_catalog(text):
        yield f"The catalog {catalog}", Path("warehouse", catalog.lower())


def _other_states(settings: Settings) -> list[Path]:
    """Return the state folders of the other targets."""
    if not settings.home.is_dir():
        return []
    return sorted(each for each in settings.home.iterdir() if each.is_dir() and each.name != settings.target)


def _has_files(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())


def _cure(other: str, target: str) -> str:
    if other == _WITHOUT_BUNDLE:
        return f"Commands without a target use `{other}`: repeat the one that made it with `-t {target}`."
    return f"Add `-t {other}` to use that one."
