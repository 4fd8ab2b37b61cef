"""All declared patches, for `lakeward check --patches`."""

from __future__ import annotations

import importlib
from collections.abc import Iterable

from lakeward.patching.layers import Patch
from lakeward.patching.specs import PatchSpec

# "module:name" of each tuple of specs, or of a function that returns specs. Named instead of imported: these
# packages depend on this one.
DECLARATIONS: tuple[str, ...] = (
    "lakeward.session.entry_points.session_builder_patch:PATCHES",
    "lakeward.session.patches.connect_finder:PATCHES",
    "lakeward.session.entry_points.connect_behavior:PATCHES",
    "lakeward.session.patches.numpy_import_patch:PATCHES",
    "lakeward.session.patches.delta_table_patch:PATCHES",
    "lakeward.session.patches.catalog_patch:PATCHES",
    "lakeward.session.patches.call_site_patch:PATCHES",
    "lakeward.session.patches.pyspark_patches:PATCHES",
    "lakeward.session.patches.errors_patch:PATCHES",
    "lakeward.session.patches.java_names_patch:PATCHES",
    "lakeward.session.patches.thread_sessions:PATCHES",
    "lakeward.session.patches.udf_patch:PATCHES",
    "lakeward.session.patches.worker_imports:PATCHES",
    "lakeward.session.patches.spark_version:PATCHES",
    "lakeward.session.patches.serverless_enforcement:declare_patches",
    "lakeward.session.daemon.acquisition:PATCHES",
    "lakeward.session.path_redirection.installation:declare_patches",
    "lakeward.newer_fstrings:PATCHES",
    "lakeward.databricks_shims.display:PATCHES",
    "lakeward.databricks_shims.installing:PATCHES",
    "lakeward.databricks_shims.sdk:PATCHES",
    "lakeward.databricks_shims.workspace_url:PATCHES",
    "lakeward.databricks_shims.ipython:PATCHES",
    "lakeward.databricks_shims.ipython_display:PATCHES",
    "lakeward.autoloader.pyspark_patches:PATCHES",
    "lakeward.notebooks.pip_processes:PATCHES",
    "lakeward.notebooks.time_limit:PATCHES",
    "lakeward.streaming.stream_patches:PATCHES",
    "lakeward.seeds.missing:PATCHES",
    "lakeward.pipelines.api.modules:PATCHES",
    "lakeward.pipelines.analysis.read_interception:PATCHES",
    "lakeward.testing.pipeline_tests:PATCHES",
)


def declared_specs() -> list[PatchSpec]:
    """Return the specs of all packages. Nothing is installed, no PySpark is imported."""
    return [spec for name in DECLARATIONS for spec in _specs(name)]


def list_patches() -> list[Patch]:
    """Return every change that lakeward can make to other code, sorted by reason."""
    found = dict.fromkeys(spec.patch for spec in declared_specs())
    return sorted(found, key=lambda patch: (patch.reason, patch.owner_name, patch.attribute))


def _specs(name: str) -> Iterable[PatchSpec]:
    module, attribute = name.split(":")
    declared: object = getattr(importlib.import_module(module), attribute)
    specs: Iterable[PatchSpec] = declared() if callable(declared) else declared  # type: ignore[assignment]
    return specs
