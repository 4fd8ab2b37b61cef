"""`display`, `displayHTML` and `DataFrame.display` outside of notebooks: a text table on stdout.

A notebook's runner replaces the functions with `use_display`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from lakeward import patching
from lakeward.patching import PatchSpec, Wrapped

ROWS, WIDTH = 20, 60

Show = Callable[..., None]
_show: ContextVar[Show | None] = ContextVar("lakeward_display", default=None)


@contextmanager
def use_display(show: Show) -> Iterator[None]:
    """Let `display(value, …)` call `show(value, …)` within the block; `displayHTML` passes `html=`."""
    token = _show.set(show)
    try:
        yield
    finally:
        _show.reset(token)


def display(value: Any = None, *args: Any, **options: Any) -> None:
    """Show a DataFrame, a list of rows or any other value; options of the platform's charts are ignored."""
    show = _show.get()
    if show is not None:
        show(value, *args, **options)
    elif value is not None:
        print(_text(value))


def current_display() -> Show | None:
    """Return what shows values in the notebook or command that runs."""
    return _show.get()


def displayHTML(html: str = "") -> None:  # noqa: N802  # the platform's name
    """Show HTML; without a notebook it is printed as text."""
    show = _show.get()
    if show is not None:
        show(None, html=html)
    else:
        print(html)


def _make_method(before: Wrapped) -> Any:
    """Return `DataFrame.display`."""
    del before

    def display_frame(self: Any, *args: Any, **options: Any) -> None:
        """Show the rows as `display(df)` does."""
        display(self, *args, **options)

    display_frame.__name__ = "display"
    return display_frame


PATCHES = (
    # The base class: DataFrames of Spark Connect have the method, too.
    PatchSpec(
        "pyspark.sql.dataframe:DataFrame",
        "display",
        "shims",
        "df.display() is display(df), as on Databricks",
        _make_method,
    ),
)


def install_method() -> None:
    """Add `DataFrame.display`; idempotent."""
    patching.install(PATCHES)


def _text(value: Any) -> str:
    if hasattr(value, "isStreaming"):
        return _frame(value)
    if hasattr(value, "to_spark"):  # pandas on Spark
        return _frame(value.to_spark())
    if hasattr(value, "to_string"):  # pandas
        return str(value.to_string(max_rows=ROWS))
    if isinstance(value, list) and value and isinstance(value[0], (tuple, Mapping)):
        from lakeward.session import session

        return _frame(session().createDataFrame(value))
    return str(value)


def _frame(df: Any) -> str:
    if df.isStreaming:
        names = ", ".join(df.columns)
        return f"A stream of {names}: shown in notebooks only; write it with df.writeStream to look at it."
    return str(df._show_string(ROWS, WIDTH, False)).rstrip()
