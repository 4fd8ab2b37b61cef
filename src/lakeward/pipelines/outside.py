"""The pipeline API where no pipeline is being read, as in a plain unit test of a dataset function.

Once allowed, declarations go nowhere and decorated functions stay what they are: calling one gives its
DataFrame. Without it (in runs, in jobs) a declaration outside of a pipeline is an error, as on Databricks.
"""

from __future__ import annotations

from typing import Any

from lakeward.pipelines.names import Home
from lakeward.pipelines.registry import Registry, active

__all__ = ["allow", "forbid", "is_outside", "nowhere", "open_table"]

_allowed = False


class _Nowhere(Registry):
    """Takes one declaration, and is thrown away with it."""

    def warn(self, about: str, text: str) -> None:
        """Nothing runs, so nothing is without effect here."""


def allow() -> None:
    """From now on the API can be used outside of pipelines."""
    global _allowed  # noqa: PLW0603  # one process, one answer, as for the modules themselves
    _allowed = True


def forbid() -> None:
    """The API is for pipelines alone again."""
    global _allowed  # noqa: PLW0603  # as above
    _allowed = False


def is_outside() -> bool:
    """Whether a call comes from outside of a pipeline, and may."""
    return _allowed and active() is None


def nowhere() -> Registry:
    """A registry for one declaration."""
    return _Nowhere(Home("main", "default"))


def open_table(name: str, *, stream: bool) -> Any:
    """What reading the dataset `name` means outside: the table of that name."""
    from lakeward.session import session

    plain = name[len("LIVE.") :] if name[:5].upper() == "LIVE." else name
    spark = session()
    return spark.readStream.table(plain) if stream else spark.read.table(plain)
