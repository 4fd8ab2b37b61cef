"""Files that pass settings to a new JVM.

The command line of a process is visible to every user of the machine, and a setting may be a secret
(`spark_conf` with `{{secrets/scope/key}}`). Settings are therefore passed in files of mode 600, which are
removed after the JVM has read them.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

from lakeward.atomic_files import atomic_write

_PROPERTIES = "--properties-file"
# Without it, spark-submit ignores conf/spark-defaults.conf when it is given a file.
_DEFAULTS = "--load-spark-defaults"


def properties_file(conf: Mapping[str, str], folder: Path, *, included: str | None = None) -> list[str]:
    """Write the settings for spark-submit into `folder`; return the options that name the file.

    `included` is the content of another properties file, over which `conf` wins; without it, the settings of
    conf/spark-defaults.conf apply as they do for settings on the command line.
    """
    file = folder / "spark.properties"
    lines = [f"{_escaped(name)}={_escaped(value)}\n" for name, value in conf.items()]
    atomic_write(file, "".join([f"{included or ''}\n", *lines]), mode=0o600)
    return [_PROPERTIES, str(file), *([_DEFAULTS] if included is None else [])]


def submit_arguments(conf: Mapping[str, str], folder: Path, rest: str) -> str:
    """Return PYSPARK_SUBMIT_ARGS that pass `conf` in a file, followed by the user's own arguments `rest`.

    A properties file that `rest` names is included in ours: spark-submit takes only one.
    """
    words = shlex.split(rest) or ["pyspark-shell"]
    named = [word.partition("=")[2] for word in words if word.startswith(f"{_PROPERTIES}=")]
    words = [word for word in words if not word.startswith(f"{_PROPERTIES}=")]
    while _PROPERTIES in words[:-1]:
        at = words.index(_PROPERTIES)
        named.append(words[at + 1])
        del words[at : at + 2]
    included = Path(named[-1]).read_text(encoding="utf-8") if named else None
    return shlex.join([*properties_file(conf, folder, included=included), *words])


def argument_file(options: Iterable[str], folder: Path) -> list[str]:
    """Write options of the JVM into `folder`; return the argument that makes `java` read them.

    https://docs.oracle.com/en/java/javase/21/docs/specs/man/java.html#java-command-line-argument-files
    """
    text = "".join(f"{_quoted(option)}\n" for option in options)
    if not text:
        return []
    file = folder / "java.options"
    atomic_write(file, text, mode=0o600)
    return [f"@{file}"]


def _quoted(option: str) -> str:
    escaped = option.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t") + '"'


def _escaped(text: str) -> str:
    """Escape text for `java.util.Properties`."""
    return "".join(_PROPERTY_ESCAPES.get(char, char) for char in text)


_PROPERTY_ESCAPES = {
    **{char: f"\\{char}" for char in "\\ =:#!"},
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\f": "\\f",
}
