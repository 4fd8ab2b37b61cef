"""What a resident JVM cannot change for the next command, and so has to have in common with it."""

from __future__ import annotations

import hashlib
import json
import re
import socket
from collections.abc import Mapping
from pathlib import Path

__all__ = ["WHATEVER", "absolute", "absolute_path", "jvm_environment", "key"]

# The session takes these anew for every command; the rest is decided when the JVM or its context starts.
WHATEVER = ("spark.sql.", "spark.databricks.", "spark.delta.", "spark.hadoop.", "spark.app.name")
_FILES = ("spark.jars", "spark.files", "spark.archives", "spark.submit.pyFiles")
# Java, Spark and Hadoop's clients read these themselves. Everything else reaches Python workers only, which
# get the command's own environment.
_READ = re.compile(
    r"SPARK_|HADOOP_|YARN_|AWS_|AZURE_|GOOGLE_|GCS_|JDK_|_JAVA_|JAVA_(?!HOME$)|LC_|LANG$|LANGUAGE$|TZ$"
    r"|(?:DY)?LD_|KRB5"
)
_NEEDED = ("HOME", "PATH", "USER", "LOGNAME", "SHELL", "TMPDIR", "JAVA_HOME")


def jvm_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment that the JVM starts with: what it reads itself, and nothing of the command's own."""
    return {name: value for name, value in environ.items() if name in _NEEDED or _READ.match(name)}


def absolute(conf: Mapping[str, str], folder: Path) -> dict[str, str]:
    """`conf` with the relative paths of files resolved against `folder`, where the command stands.

    >>> absolute({"spark.files": "a.txt,hdfs:/b,/c"}, Path("/here"))
    {'spark.files': '/here/a.txt,hdfs:/b,/c'}
    """
    return {
        name: ",".join(absolute_path(path, folder) for path in value.split(",")) if name in _FILES else value
        for name, value in conf.items()
    }


def absolute_path(path: str, folder: Path) -> str:
    """`path` against `folder`; absolute ones and URIs stay as they are."""
    return path if not path or re.match(r"/|[A-Za-z][A-Za-z0-9+.-]*:", path) else str(folder / path)


def key(conf: Mapping[str, str], *, environ: Mapping[str, str], java: Path, version: str) -> str:
    """The name of the JVM that serves a session with `conf`, given absolute paths.

    `version` names lakeward, Spark and Delta. Our own classes count through the jar in `spark.jars`.
    """
    fixed = {
        name: value
        for name, value in conf.items()
        if name.startswith("spark.") and not name.startswith(WHATEVER)
    }
    read = {name: value for name, value in jvm_environment(environ).items() if name not in _NEEDED}
    parts = [version, socket.gethostname(), str(java), sorted(fixed.items()), sorted(read.items())]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
