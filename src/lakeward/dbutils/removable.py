"""What `dbutils.fs` may remove or replace on this machine.

On Databricks a wrong path costs a folder of DBFS. Here a path that nothing maps is the machine's own disk, so
only what lies below the lakehouse, the project or the temporary folder can be removed or replaced.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

__all__ = ["is_removable"]


def is_removable(path: Path, *, below: Iterable[Path], keep: Iterable[Path]) -> bool:
    """Whether `path` lies strictly below one of `below`, and holds none of `keep`.

    All of them are real paths, links resolved; nothing is touched.
    """
    inside = any(folder != path and folder in path.parents for folder in below if folder != Path("/"))
    return inside and not any(kept == path or path in kept.parents for kept in keep)
