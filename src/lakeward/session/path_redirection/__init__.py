"""Redirect `/Volumes/…`, `/dbfs/…`, `/Workspace/…` and mounts in Python's own file functions.

`install` patches `open`, `os`, references bound earlier, the import system and the entry points of pyarrow
and sqlite3, and maps arguments of programs; `uninstall` restores all. Not redirected, unless
LAKEWARD_BIND_MOUNTS is 1: paths that programs compute, files that native code opens, methods of pyarrow's
file systems and `io.FileIO`.
"""

from __future__ import annotations

from lakeward.session.path_redirection.installation import install, installed_map, uninstall
