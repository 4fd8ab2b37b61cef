"""The JVM side of the session, compiled once by the compiler that Spark ships.

Catalog, file system and log store are a handful of Java files; Janino turns them into a jar in the
cache, named after their content and the Spark that compiled them.
"""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path
from typing import Any

from lakeward.errors import SetupError
from lakeward.whole_files import replacing

__all__ = ["SOURCES", "compile_jar", "jar_path"]

# In the order of their needs: each is compiled against those before it.
SOURCES = (
    "Names",
    "PathMap",
    "Home",
    "PrivateTables",
    "Folder",
    "Definitions",
    "WarehouseCatalog",
    "SqlRewriter",
    "Frontend",
    "Policies",
    "PlannedTable",
    "InformationColumn",
    "InformationSchema",
    "Provided",
    "AnyCase",
    "SparkCatalog",
    "OtherFormat",
    "Catalog",
    "MappedFileSystem",
    "LinkLogStore",
    "DeltaOperation",
    "SqlPositions",
    "SqlCommand",
    "SqlParser",
    "JsonPath",
    "SqlRules",
    "SqlFunctions",
    "SqlNames",
    "SqlRefusals",
    "PolicyRules",
    "GlobalTemporary",
    "StreamOfPath",
    "StreamOfView",
    "Extension",
    "FormerWork",
    "Resident",
)
_FOLDER = Path(__file__).with_name("jvm")


def _text(name: str) -> str:
    return (_FOLDER / f"{name}.java").read_text(encoding="utf-8")


def jar_path(cache: Path, versions: str) -> Path:
    """Where the jar of these sources belongs; `versions` names the Spark and Delta it is compiled against."""
    digest = hashlib.sha256(versions.encode())
    for name in SOURCES:
        digest.update(_text(name).encode())
    return cache / "java" / f"lakeward-{digest.hexdigest()[:16]}.jar"


def compile_jar(jvm: Any, target: Path) -> None:
    """Compile the sources in the running `jvm` and put the jar at `target`, whole or not at all.

    Raises SetupError when the compiler refuses (another Spark than the one supported).
    """
    from py4j.protocol import Py4JJavaError

    parent = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    classes: dict[str, bytes] = {}
    for name in SOURCES:
        compiler = jvm.org.codehaus.janino.SimpleCompiler()
        compiler.setParentClassLoader(parent)
        compiler.setSourceVersion(11)
        compiler.setTargetVersion(11)
        try:
            compiler.cook(_text(name))
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
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as aside, zipfile.ZipFile(aside, "w") as jar:
            for entry, content in classes.items():
                jar.writestr(entry, content)
    except OSError as error:
        raise SetupError(
            "CACHE_NOT_WRITABLE",
            f"The compiled Java classes cannot be kept at {target}: {error.strerror}.",
            next_step="Set LAKEWARD_CACHE to a folder that can be written.",
        ) from None
