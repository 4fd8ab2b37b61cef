"""The jar with lakeward's Java classes.

Janino, the compiler that Spark ships, compiles the Java files of this folder into a jar in the cache, named
after their content and the Spark that compiled them. The package lakeward-jars contains this jar.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lakeward.atomic_files import atomic_replace
from lakeward.errors import SetupError

# In dependency order: each class is compiled against those before it.
SOURCES = (
    "SessionRule",
    "SessionStrategy",
    "IdentifierCodec",
    "PathMap",
    "LakehouseSettings",
    "PrivateTables",
    "WarehouseLayout",
    "ObjectDefinitions",
    "DroppedTables",
    "WarehouseCatalog",
    "PythonSqlBridge",
    "DatasetChanges",
    "Policies",
    "PlannedTable",
    "InformationColumn",
    "InformationSchemaScan",
    "InformationSchema",
    "BuiltinTables",
    "CaseInsensitiveTable",
    "SparkCatalog",
    "NonDeltaTable",
    "NonDeltaColumns",
    "TableKeys",
    "DelegatingTable",
    "ReplacedTable",
    "NonDeltaTarget",
    "ClusteringColumns",
    "CollatedColumns",
    "QueryDefaults",
    "NarrowedArguments",
    "PlatformFeatures",
    "PlatformProperties",
    "ViewStore",
    "ShownNames",
    "MaterializedViews",
    "DeltaOperation",
    "IdentityValues",
    "LakehouseCatalog",
    "Catalog",
    "UnmappedFileSystem",
    "MappedFileSystem",
    "InsertedRows",
    "LinkLogStore",
    "RowCounts",
    "Transactions",
    "SqlCommand",
    "TableQualifiers",
    "VersionedNames",
    "PositionalParameters",
    "SqlParser",
    "JsonPath",
    "SqlRules",
    "AggregateCall",
    "JsonSchemas",
    "SqlFunctions",
    "Signal",
    "GeoErrors",
    "GeoValue",
    "GeoBinaryReader",
    "GeoBinaryWriter",
    "GeoTextReader",
    "GeoTextWriter",
    "GeoJsonReader",
    "GeoStorage",
    "GeoHash",
    "GeoShapes",
    "GeoConstructors",
    "GeoAccessors",
    "GeoPredicates",
    "GeoMeasures",
    "GeoOverlay",
    "H3Cells",
    "H3Functions",
    "H3Regions",
    "GeoFunction",
    "GeoCall",
    "ZstdFunctions",
    "GeoAggregate",
    "GeoTable",
    "ShownGeometries",
    "SystemFunctions",
    "InferredJson",
    "CurrentSchema",
    "SqlRefusals",
    "SqlNames",
    "InputFileName",
    "DeclaredTypes",
    "ReadPaths",
    "FormatCheck",
    "FileRescue",
    "RowSelection",
    "CatalogTable",
    "ColumnDefaults",
    "InsertTargets",
    "MergeStars",
    "RelationKind",
    "ViewTargets",
    "OverwrittenFiles",
    "AddedFiles",
    "ChangeFeeds",
    "PlannedDescriptions",
    "TagPolicies",
    "PolicyRules",
    "EmptySnapshot",
    "ListedSnapshot",
    "AppendedFile",
    "FileReplacement",
    "CatalogNames",
    "CheckConditions",
    "ShortNames",
    "FunctionBodies",
    "FunctionColumns",
    "ScriptErrors",
    "GlobalTemporary",
    "TableChanges",
    "TargetFileSize",
    "GeneratedCounts",
    "PresentTargetMerge",
    "ViewEvolution",
    "StreamOfPath",
    "StreamOfView",
    "StreamingMetadata",
    "AutoLoaderScan",
    "AutoLoaderTable",
    "Extension",
    "ResultColumns",
    "ArrowFiles",
    "ComputedRows",
    "ViewPlan",
    "PlanRewrites",
    "OperatorTimes",
    "MarkedRowsIndex",
    "SourceChanges",
    "ChangedRows",
    "StreamSessions",
    "ObservedWrites",
    "OrphanedJobs",
    "GatewaySockets",
    "Daemon",
    "RocksDBStateStoreProvider",
    "IcebergConverter",
)
FUNCTION_TABLE = Path(__file__).with_name("geospatial_functions.txt")
"""The table of functions of geometries, which the jar contains."""
_FOLDER = Path(__file__).parent


def _text(name: str) -> str:
    return (_FOLDER / f"{name}.java").read_text(encoding="utf-8")


def jar_path(cache: Path, versions: str, packaged: Iterable[Path]) -> Path:
    """Return the jar of these sources: in a folder of `packaged` if one has it, else its place in the cache.

    The name contains a hash of the sources and of `versions`, the Spark and Delta they are compiled against.
    A packaged jar of other sources or versions is not used.
    """
    digest = hashlib.sha256(versions.encode())
    for name in SOURCES:
        digest.update(_text(name).encode())
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
