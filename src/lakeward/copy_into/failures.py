"""What a failed load says: the reader's own finding instead of Spark's layers around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from lakeward.errors import CloudFilesError, SqlError
from lakeward.session import everything_said

__all__ = ["told"]

_OURS = re.compile(r"lakeward\.errors\.CloudFilesError: \[([A-Z0-9_.]+)\] (.*)")
_FILE = re.compile(r"The file (\S+) ")
# Spark's names for what Auto Loader calls otherwise.
_CONDITIONS = {
    "CF_CORRUPT_FILE": ("FAILED_READ_FILE.NO_HINT", "KD001"),
    "CF_FILE_NOT_FOUND": ("FAILED_READ_FILE.FILE_NOT_EXIST", "KD001"),
}


@contextmanager
def told(shown: str) -> Iterator[None]:
    """A block whose failures in reading `shown` leave it as SqlError; others as they are."""
    try:
        yield
    except SqlError:
        raise
    except CloudFilesError as error:
        raise _as_sql(error.condition, error.message, error.next_step, shown) from None
    except Exception as error:
        found = _OURS.search(everything_said(error))
        if found is None:
            raise
        raise _as_sql(found[1], found[2], None, shown) from error


def _as_sql(condition: str, message: str, next_step: str | None, shown: str) -> SqlError:
    name, state = _CONDITIONS.get(condition, (condition, "42000"))
    file = _FILE.search(message)
    parameters = {"path": file[1] if file else shown} if name.startswith("FAILED_READ_FILE") else None
    return SqlError(name, message, sql_state=state, parameters=parameters, next_step=next_step)
