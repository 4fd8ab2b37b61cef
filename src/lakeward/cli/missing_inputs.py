"""What explains an error: the runtime, and where or how code gets what an error does not find."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakeward.session import PathMap, Settings

_MODULE = re.compile(r"No module named '(?P<name>[\w.]+)'")
# They are of the platform, of Spark or of lakeward: no package brings them.
_WITHOUT_PACKAGE = frozenset(("dbruntime", "dlt", "lakeward", "pyspark"))
_ICEBERG = re.compile(r"DATA_SOURCE_NOT_FOUND\b.*\bdata source: iceberg\b", re.IGNORECASE)
_NO_FILE = re.compile(
    r"\b(PATH_NOT_FOUND|CF_PATH_DOES_NOT_EXIST\w*|DELTA_PATH_DOES_NOT_EXIST|DELTA_TABLE_NOT_FOUND"
    # What Delta says of a stream that reads a folder without a table.
    r"|DELTA_SCHEMA_NOT_SET|FileNotFoundException|FileNotFoundError|No such file or directory)\b"
)
_NAME = r"/[\w-]+(?:\.[\w-]+)*"
_CLOUD_FOLDER = re.compile(
    r"(?<![\w.:/-])(?:dbfs:|file:|/dbfs)?"
    rf"(?P<prefix>/(?:databricks-datasets|mnt|FileStore){_NAME}|/Volumes(?:{_NAME}){{3}})"
    r"(?P<below>(?:/[^\s/'\"`,;:*?]+)*)"
)
# Names of a folder that a hint lists.
_LISTED = 5


def hints_of(text: str, settings: Settings) -> list[str]:
    """Return what explains an error in `text`, for every command that runs code of users."""
    from lakeward.session import PathMap, ansi_hint, catalog_hint, removed_function_hint, schema_hint

    other = other_lakehouse_hint(text, settings)
    mounts = [prefix for prefix, _ in settings.mounts]
    hints = (
        ansi_hint(text, settings),
        removed_function_hint(text, settings),
        other or catalog_hint(text),
        None if other else schema_hint(text),
        schema_inference_hint(text),
        iceberg_hint(text),
        package_hint(text, settings.profile),
        None if other else folder_hint(text, mounts, PathMap.of(settings)),
    )
    return [hint for hint in hints if hint is not None]


def schema_inference_hint(text: str) -> str | None:
    """Return what to do where `from_json` was to infer its schema; None for other errors.

    >>> schema_inference_hint('[INVALID_SCHEMA.NON_STRING_LITERAL] The input schema "NULL" is …')[:26]
    'Only flows of pipelines in'
    >>> schema_inference_hint('[INVALID_SCHEMA.NON_STRING_LITERAL] The input schema "a" is …')
    """
    if "INVALID_SCHEMA.NON_STRING_LITERAL" not in text or 'schema "NULL"' not in text:
        return None
    return (
        "Only flows of pipelines infer the schema of from_json(…, NULL, map('schemaLocationKey', …)): "
        "give the schema, or read JSON files with Auto Loader, which infers it."
    )


def iceberg_hint(text: str) -> str | None:
    """Return what to do about a table with USING ICEBERG; None for other errors.

    >>> iceberg_hint("[DATA_SOURCE_NOT_FOUND] Failed to find the data source: iceberg. Make …")[:36]
    'Tables are stored as Delta here, not'
    >>> iceberg_hint("[DATA_SOURCE_NOT_FOUND] Failed to find the data source: ducks. Make …")
    """
    if not _ICEBERG.search(text):
        return None
    return (
        "Tables are stored as Delta here, not as Iceberg. Leave USING ICEBERG out, or create a Delta table "
        "that Iceberg clients read on the platform: TBLPROPERTIES "
        "('delta.universalFormat.enabledFormats' = 'iceberg')."
    )


def package_hint(text: str, runtime: str | None) -> str | None:
    """Return how to install the module that the error `text` reports as missing; None for other errors.

    >>> package_hint("No module named 'shop.load'", "16.4")
    'If a package has the module `shop`: declare it, or use `--with PACKAGE`.'
    >>> package_hint("No module named 'dlt'", "16.4")
    """
    from lakeward.check import package_cure

    found = _MODULE.search(text)
    if found is None or found["name"].partition(".")[0] in _WITHOUT_PACKAGE or "--with" in text:
        return None
    return package_cure(found["name"], runtime)


def folder_hint(text: str, mounts: Collection[str] = (), mapped: PathMap | None = None) -> str | None:
    """Return how the folder of the cloud that the error `text` does not find is mapped; None for others.

    `mounts` are the prefixes that the project maps: files that are missing there are the user's. A folder
    of the state, by `mapped`, that has files needs another path, no mount: the hint lists what it has.

    >>> folder_hint("[PATH_NOT_FOUND] Path does not exist: dbfs:/mnt/raw/in.csv.").split(" reads")[0]
    'The cloud has no files here: `--mount /mnt/raw=FOLDER`'
    >>> folder_hint("[PATH_NOT_FOUND] Path does not exist: dbfs:/mnt/raw/in.csv.", ["/mnt"])
    >>> folder_hint("[PATH_NOT_FOUND] Path does not exist: /Volumes/main/raw/in/a.csv.").split(" reads")[0]
    'The cloud has no files here: `--mount /Volumes/main/raw/in=FOLDER`'
    >>> folder_hint("[PATH_NOT_FOUND] Path does not exist: /home/ada/in.csv.")
    """
    found = _CLOUD_FOLDER.search(text) if _NO_FILE.search(text) else None
    if found is None or "--mount" in text:
        return None
    mounted = {mount.removeprefix("dbfs:").rstrip("/") for mount in mounts}
    if any(f"{found['prefix']}/".startswith(f"{each}/") for each in mounted):
        return None
    if mapped is not None:
        if listed := _listing(found["prefix"], found["below"], mapped):
            return f"{listed} here: correct the path, or put the files there first."
        if (folder := Path(mapped.local(found["prefix"]))).is_dir():
            return (
                f"{found['prefix']} is the folder {folder} here, which has no files: put them there, or "
                f"`--mount {found['prefix']}=FOLDER` reads those of another folder."
            )
    return (
        f"The cloud has no files here: `--mount {found['prefix']}=FOLDER` reads those of a local folder, "
        "[tool.lakeward.mounts] in pyproject.toml in every call of the project."
    )


def _listing(prefix: str, below: str, mapped: PathMap) -> str | None:
    """Return the last folder of a path that has files, and their first names; None if the prefix has none."""
    folder = Path(mapped.local(prefix))
    names = _names_in(folder)
    for name in below.split("/")[1:]:
        inside = _names_in(folder / name)
        if not inside:
            break
        prefix, folder, names = f"{prefix}/{name}", folder / name, inside
    return f"{prefix} has {names}" if names else None


def _names_in(folder: Path) -> str:
    """Return the first names in a folder, without those that Spark does not read."""
    inside = folder.iterdir() if folder.is_dir() else ()
    names = sorted(each.name + "/" * each.is_dir() for each in inside if each.name[0] not in "._")
    return ", ".join(names[:_LISTED] + ["…"] * (len(names) > _LISTED))


_VOLUME = re.compile(r"(?<![\w.-])(?:dbfs:|file:|/dbfs)?/Volumes/(?P<name>[\w-]+/[\w-]+/[\w-]+)")
_NO_VOLUME = re.compile(r"PATH_NOT_FOUND|CF_PATH_DOES_NOT_EXIST|FileNotFound|No such file or directory")
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

    if _NO_VOLUME.search(text):
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
