"""`/Volumes/…`, `/dbfs/…`, `/Workspace/…` and mounts in Python's own file functions.

`install` patches `open`, `os`, what was bound before, the import system and the entry points of pyarrow and
sqlite3; `uninstall` gives everything back. What cannot be reached is `OUT_OF_REACH`.
"""

from __future__ import annotations

from lakeward.session.python_paths.installing import install, installed_map, uninstall
from lakeward.session.python_paths.libraries import OUT_OF_REACH

__all__ = ["OUT_OF_REACH", "install", "installed_map", "uninstall"]
