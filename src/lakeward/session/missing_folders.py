"""How code gets the files of a folder that an error does not find, or finds empty."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from lakeward.errors import LakewardError
from lakeward.session.paths import HIVE_WAREHOUSE, PathMap
from lakeward.session.platform_files import find_platform_mount
from lakeward.session.settings import Settings

_NO_FILE = re.compile(
    r"\b(PATH_NOT_FOUND|CF_PATH_DOES_NOT_EXIST\w*|DELTA_PATH_DOES_NOT_EXIST|DELTA_TABLE_NOT_FOUND"
    # Conditions of Auto Loader for a folder without files, also for one that does not exist.
    r"|CF_EMPTY_DIR_FOR_SCHEMA_INFERENCE"
    # Conditions of Delta for a stream that reads a folder without a table.
    r"|DELTA_SCHEMA_NOT_SET|FileNotFoundException|FileNotFoundError|No such file or directory)\b"
)
_NAME = r"/[\w-]+(?:\.[\w-]+)*"
_CLOUD_FOLDER = re.compile(
    r"(?<![\w.:/-])(?:dbfs:|file:|/dbfs)?"
    rf"(?P<prefix>/(?:databricks-datasets|mnt|FileStore){_NAME}|/Volumes(?:{_NAME}){{3}})"
    r"(?P<below>(?:/[^\s/'\"`,;:*?]+)*)"
)
_HIVE_TABLE = re.compile(
    rf"(?<![\w.:/-])(?:dbfs:|/dbfs)?{HIVE_WAREHOUSE}/(?:(?P<schema>\w+)\.db/)?(?P<table>\w+)\b(?!\.\w)"
)
_WORKSPACE_PATH = re.compile(
    r"'(?P<quoted>/(?:Workspace|Repos)/[^']+)'"
    r"|(?<![\w.:/'-])(?:dbfs:|file:)?(?P<bare>/(?:Workspace|Repos)/[^\s'\"`,;]+)"
)
# Names of a folder that a hint lists.
_LISTED = 5


def folder_hint(text: str, settings: Settings) -> str | None:
    """Return how the folder of the cloud that the error `text` does not find is mapped; None for others."""
    mounts = [prefix for prefix, _ in settings.mounts]
    hint = describe_missing_folder(text, mounts, PathMap.of(settings))
    hint = hint or describe_missing_hive_table(text, settings.catalog)
    try:
        return hint or describe_missing_workspace_path(text, Path.cwd(), mounts)
    except FileNotFoundError:  # Code has deleted the working folder.
        return None


def misses_file(text: str) -> bool:
    """Return whether an error is about a missing or empty file, folder or table."""
    return _NO_FILE.search(text) is not None


def describe_missing_workspace_path(text: str, root: Path, mounts: Collection[str] = ()) -> str | None:
    """Return how the workspace path that the error `text` does not find is mapped; None for others.

    The file is that of the repository around `root` with the longest equal end of the path, if there is one.

    >>> error = "No such file or directory: '/Workspace/Shared/x.json'"
    >>> describe_missing_workspace_path(error, Path("/nowhere")).split(" reads")[0]
    '`--mount /Workspace/Shared=FOLDER`'
    """
    found = _WORKSPACE_PATH.search(text) if misses_file(text) else None
    if found is None or "--mount" in text:
        return None
    path = (found["quoted"] or found["bare"]).rstrip(".:")
    if any(f"{path}/".startswith(f"{mount.rstrip('/')}/") for mount in mounts):
        return None
    mount = find_platform_mount(path, root)
    prefix, folder = mount or (path.rpartition("/")[0], "FOLDER")
    has = f"{folder} has {path[len(prefix) + 1 :]}: " if mount else ""
    return (
        f"{has}`--mount {prefix}={folder}` reads the files of a local folder, [tool.lakeward.mounts] in "
        "pyproject.toml in every call of the project."
    )


def describe_missing_hive_table(text: str, catalog: str) -> str | None:
    """Return why the storage of `hive_metastore` lacks the table of the error `text`; None for others.

    `catalog` is that of names without one. Code for workspaces without Unity Catalog writes `t` and reads the
    path of it.

    >>> describe_missing_hive_table("[PATH_NOT_FOUND] dbfs:/user/hive/warehouse/s.db/t", "main")[:66]
    'dbfs:/user/hive/warehouse holds the tables of hive_metastore, and '
    >>> describe_missing_hive_table("[PATH_NOT_FOUND] No path: dbfs:/mnt/warehouse/t.", "main")
    """
    found = _HIVE_TABLE.search(text) if misses_file(text) else None
    if found is None or catalog == "hive_metastore":
        return None
    table = ".".join((found["schema"] or "default", found["table"]))
    return (
        f"dbfs:{HIVE_WAREHOUSE} holds the tables of hive_metastore, and `{table}` without a catalog is "
        f"{catalog}.{table} here. For code of a workspace without Unity Catalog: "
        'default-catalog = "hive_metastore" under [tool.lakeward] in pyproject.toml.'
    )


def describe_missing_folder(
    text: str, mounts: Collection[str] = (), mapped: PathMap | None = None
) -> str | None:
    """Return how the folder of the cloud that the error `text` does not find is mapped; None for others.

    `mounts` are the prefixes that the project maps: files that are missing there are the user's. A folder
    of the state, by `mapped`, that has files needs another path, no mount: the hint lists what it has.

    >>> describe_missing_folder("[PATH_NOT_FOUND] No path: dbfs:/mnt/raw/in.csv.").split(" reads")[0]
    'The cloud has no files here: `--mount /mnt/raw=FOLDER`'
    >>> describe_missing_folder("[PATH_NOT_FOUND] Path does not exist: dbfs:/mnt/raw/in.csv.", ["/mnt"])
    >>> describe_missing_folder("[PATH_NOT_FOUND] No path: /Volumes/main/raw/in/a.csv.").split(" reads")[0]
    'The cloud has no files here: `--mount /Volumes/main/raw/in=FOLDER`'
    >>> describe_missing_folder("[PATH_NOT_FOUND] Path does not exist: /home/ada/in.csv.")
    """
    found = _CLOUD_FOLDER.search(text) if misses_file(text) else None
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


def empty_folder_hint(paths: Iterable[str], mapped: PathMap) -> str | None:
    """Return the first of the paths that is a folder without files that Spark reads, and the next step."""
    for path in dict.fromkeys(paths):
        try:
            local = Path(mapped.require_local(path))
        except LakewardError:
            continue
        if not local.is_dir() or _has_files(local):
            continue
        same = str(local) == path.removeprefix("file:")
        where = f"The folder {local}" if same else f"The path {path} is the folder {local} here, which"
        prefix = path.removeprefix("dbfs:").rstrip("/")
        mount = "" if same else f", or map another folder: --mount {prefix}=FOLDER"
        return (
            f"{where} has no files that Spark reads (names that begin with _ or . are skipped). "
            f"Put files there{mount}."
        )
    return None


def _has_files(folder: Path) -> bool:
    """Return whether there is a file that is not hidden, in a folder that is not hidden."""
    inside = (each for each in folder.iterdir() if each.name[0] not in "._" or "=" in each.name)
    return any(_has_files(each) if each.is_dir() else True for each in inside)
