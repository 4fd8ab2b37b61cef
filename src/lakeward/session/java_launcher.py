"""A `java` in front of a runtime that lacks a module which Spark asks for at every start.

A runtime cut down with jlink has no `jdk.incubator.vector`; Spark uses it for speed in its machine
learning only, but a JVM told to add a module that it lacks does not start.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from pathlib import Path

from lakeward.session.cache import made, not_writable
from lakeward.whole_files import write_whole

__all__ = ["launcher"]

_SCRIPT = """\
#!/bin/sh
# for the runtime of {when}
for argument do
  shift
  case $argument in
    --add-modules=jdk.incubator.vector) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec {java} "$@"
"""


def launcher(java: Path, version: int, cache: Path) -> Path:
    """The path of a `bin/java` below `cache` that starts `java`, of that feature version, without the module.

    Its folder's parent serves as JAVA_HOME, also for `find_java` in a process that inherits it: what the
    runtime has is then not asked of it again. Raises SetupError when the cache cannot be written.
    """
    # Another runtime in the same place is another one: what is known of the old one does not fit it.
    text = _SCRIPT.format(java=shlex.quote(str(java)), when=java.stat().st_mtime_ns)
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    script = cache / f"runtime-{name}" / "bin" / "java"
    if os.access(script, os.X_OK):
        return script
    made(script.parent)
    # Put in place whole: another process may be looking for it now.
    try:
        write_whole(script.parent.parent / "release", f'JAVA_VERSION="{version}"\n')
        write_whole(script, text, mode=0o755)
    except OSError as error:
        raise not_writable(script, error) from None
    return script
