"""Libraries that open files in C: their Python entry points accept platform paths.

pandas needs no patch: its readers and writers open files with Python's `open`, or pass a folder to pyarrow.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any

from lakeward.session.path_redirection.translator import PathTranslator

Argument = tuple[int, str]

_RESOLVE: Mapping[str, Argument] = {"_resolve_filesystem_and_path": (0, "path")}
_PARQUET: Mapping[str, Argument] = {
    "read_table": (0, "source"),
    "read_pandas": (0, "source"),
    "read_schema": (0, "where"),
    "read_metadata": (0, "where"),
    "write_table": (1, "where"),
    "write_metadata": (1, "where"),
    "write_to_dataset": (1, "root_path"),
}

LIBRARIES: Mapping[str, Mapping[str, Argument]] = {
    "pyarrow": {
        "memory_map": (0, "path"),
        "create_memory_map": (0, "path"),
        "input_stream": (0, "source"),
        "output_stream": (0, "source"),
    },
    "pyarrow.fs": _RESOLVE,
    "pyarrow.dataset": {
        "dataset": (0, "source"),
        "parquet_dataset": (0, "metadata_path"),
        "write_dataset": (1, "base_dir"),
    },
    "pyarrow.parquet": _PARQUET,
    "pyarrow.parquet.core": {**_RESOLVE, **_PARQUET},
    "pyarrow.orc": {**_RESOLVE, "read_table": (0, "source"), "write_table": (1, "where")},
    "pyarrow.csv": {
        "read_csv": (0, "input_file"),
        "open_csv": (0, "input_file"),
        "write_csv": (1, "output_file"),
    },
    "pyarrow.json": {"read_json": (0, "input_file"), "open_json": (0, "input_file")},
    "pyarrow.feather": {
        "read_feather": (0, "source"),
        "read_table": (0, "source"),
        "write_feather": (1, "dest"),
    },
    "sqlite3": {"connect": (0, "database")},
    "sqlite3.dbapi2": {"connect": (0, "database")},
}
"""Module → function → position and name of the argument that is a path (or a list of paths)."""


def entry_point(translator: PathTranslator, original: Any, argument: Argument) -> Callable[..., Any]:
    """Return `original` with the path or paths in `argument` mapped; errors contain the user's path."""
    position, name = argument

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = args[position] if len(args) > position else kwargs.get(name)
        found = [translator.local(p) for p in given] if isinstance(given, list) else translator.local(given)
        if found is given or (isinstance(given, list) and all(map(operator.is_, given, found))):
            return original(*args, **kwargs)
        if len(args) > position:
            args = (*args[:position], found, *args[position + 1 :])
        else:
            kwargs[name] = found
        try:
            return original(*args, **kwargs)
        except OSError as error:
            error.args = tuple(
                translator.translate_message(a) if isinstance(a, str) else a for a in error.args
            )
            if error.strerror:
                error.strerror = translator.translate_message(error.strerror)
            raise

    return call
