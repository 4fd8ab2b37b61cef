"""The reader that answers reads by name while an update evaluates its flows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class DatasetReader(Protocol):
    """Resolves reads by name against the datasets of the running pipeline."""

    def read(self, name: str, *, stream: bool, strict: bool = False) -> DataFrame | str:
        """Return a view's DataFrame, or the name that Spark reads; `strict` accepts only datasets."""

    def before_sql(self, text: str) -> None:
        """Prepare all datasets that the SQL `text` reads."""

    def schema_location(self) -> str | None:
        """Return the schema location of the next Auto Loader stream that sets none itself."""

    def open(self, name: str, *, stream: bool) -> DataFrame:
        """Read a table with Spark."""


# Module state, not a context variable: the patched readers are also called by Spark's callback threads.
_active: DatasetReader | None = None


def active_reader() -> DatasetReader | None:
    """Return the reader of the running update, None outside of one."""
    return _active


@contextmanager
def use_reader(reader: DatasetReader) -> Iterator[None]:
    """Resolve reads by name with `reader` until the block ends."""
    global _active  # noqa: PLW0603  # see above
    previous, _active = _active, reader
    try:
        yield
    finally:
        _active = previous


def read_table(name: str, *, stream: bool) -> Any:
    """Read a dataset of the pipeline or any other table, as `spark.table` in a dataset function does."""
    assert _active is not None, "only flows of a running update read"
    found = _active.read(name, stream=stream)
    return _active.open(found, stream=stream) if isinstance(found, str) else found
