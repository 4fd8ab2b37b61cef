"""The jar with lakeward's Java classes.

Janino, the compiler that Spark ships, compiles the Java files of this folder into a jar in the cache, named
after their content and the Spark that compiled them. The package lakeward-jars contains this jar.
"""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Iterable, Mapping
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from lakeward.atomic_files import atomic_replace
from lakeward.errors import SetupError

FUNCTION_TABLE = Path(__file__).with_name("geospatial_functions.txt")
"""The table of functions of geometries, which the jar contains."""
_FOLDER = Path(__file__).parent
_NOT_CODE = re.compile(r"""/\*.*?\*/|//[^\n]*|'(?:\\.|[^'\\])+'|"(?:\\.|[^"\\])*\"""", re.DOTALL)
# A class of another package has its package before its name.
_NAME = re.compile(r"(?:\blakeward\.|(?<![\w.]))([A-Z]\w*)")


def read_sources() -> dict[str, str]:
    """Return the text of each Java class, by its name."""
    return {file.stem: file.read_text(encoding="utf-8") for file in sorted(_FOLDER.glob("*.java"))}


def dependency_order(sources: Mapping[str, str]) -> list[str]:
    """Return the names of classes so that each comes after those that its code names.

    >>> dependency_order({"A": "class A { B b; }", "B": "class B {} // for A"})
    ['B', 'A']
    """
    named = {
        name: (set(_NAME.findall(_NOT_CODE.sub(" ", text))) & sources.keys()) - {name}
        for name, text in sources.items()
    }
    return list(TopologicalSorter(named).static_order())


def jar_path(cache: Path, versions: str, packaged: Iterable[Path]) -> Path:
    """Return the jar of these sources: in a folder of `packaged` if one has it, else its place in the cache.

    The name contains a hash of the sources and of `versions`, the Spark and Delta they are compiled against.
    A packaged jar of other sources or versions is not used.
    """
    digest = hashlib.sha256(versions.encode())
    for text in read_sources().values():
        digest.update(text.encode())
    digest.update(FUNCTION_TABLE.read_bytes())
    name = f"lakeward-{digest.hexdigest()[:16]}.jar"
    return next((folder / name for folder in packaged if (folder / name).is_file()), cache / "java" / name)


def compile_jar(jvm: Any, target: Path) -> None:
    """Compile the sources in the running `jvm` and write the jar to `target` atomically.

    Raises SetupError if compilation fails, which happens with an unsupported Spark version.
    """
    from py4j.protocol import Py4JJavaError

    parent = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    classes = {f"lakeward/{FUNCTION_TABLE.name}": FUNCTION_TABLE.read_bytes()}
    sources = read_sources()
    # Each class is compiled against those before it.
    for name in dependency_order(sources):
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(parent)
        compiler.setSourceVersion(11)
        compiler.setTargetVersion(11)
        try:
            compiler.cook(sources[name])
        except Py4JJavaError as error:
            reason = str(error.java_exception).splitlines()[0]
            raise SetupError(
                "JAVA_SOURCES_NOT_COMPILED",
                f"{name}.java does not compile against this Spark: {reason}.",
                next_step="Install the versions that lakeward pins: pip install --force-reinstall lakeward.",
            ) from None
        code = compiler.getBytecodes()
        for cls in code.keySet():
            classes[cls.replace(".", "/") + ".class"] = bytes(code.get(cls))
        parent = compiler.getClassLoader()
    _write_jar(target, classes)


def _write_jar(target: Path, entries: Mapping[str, bytes]) -> None:
    """Write a jar with these entries atomically. Raises SetupError (CACHE_NOT_WRITABLE)."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with atomic_replace(target) as partial, zipfile.ZipFile(partial, "w") as jar:
            for name, content in entries.items():
                jar.writestr(name, content)
    except OSError as error:
        raise SetupError(
            "CACHE_NOT_WRITABLE",
            f"The jar {target} cannot be written: {error.strerror}.",
            next_step="Set LAKEWARD_CACHE to a writable folder.",
        ) from None
