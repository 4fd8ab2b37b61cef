"""Databricks bundles: reading, checking and deploying them. BN-… are sections of docs/spec/bundle.md.

`load` reads one target of a bundle with all references resolved, `load_statically` without running anything.
`find_root` finds the bundle's folder.
`load_jobs` reads a single file of job definitions. `findings` checks the rules. `deploy` brings a workspace
to the state that the bundle declares. The imports below are the list of public names; each is loaded on first
access: most commands need few of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.lazy_imports import lazy_exports

if TYPE_CHECKING:
    from lakeward.bundle.artifacts import Artifact, artifacts_of, build
    from lakeward.bundle.configuration.computed_values import short_name
    from lakeward.bundle.configuration.field_types import FIELD_TYPE
    from lakeward.bundle.configuration.findings import Finding
    from lakeward.bundle.configuration.includes import find_root
    from lakeward.bundle.configuration.lookups import is_placeholder
    from lakeward.bundle.configuration.node import Position
    from lakeward.bundle.configuration.resource_kinds import RESOURCE_KINDS, ResourceKind
    from lakeward.bundle.deployment import (
        definition_of,
        deploy,
        deployed_id,
        destroy,
        stored_ids,
        undeployed_bodies,
    )
    from lakeward.bundle.git_sources import is_from_git, read_checkout
    from lakeward.bundle.job_file import defines_jobs, is_job_file, load_jobs, only_job
    from lakeward.bundle.loader import UNASSIGNED, load, load_statically, targets_to_read
    from lakeward.bundle.python_project import Distribution, read_wheel
    from lakeward.bundle.resolved_bundle import Bundle, connector_of, task_kinds
    from lakeward.bundle.rules import LOCAL_RULES, RULES, findings, missing_files, workspace_paths
    from lakeward.bundle.runtimes import runtime_here, runtime_of
    from lakeward.bundle.schedules import MOST_MONITORED_JOBS, Timer, timers_of
    from lakeward.bundle.summary import as_lines as summary_lines
    from lakeward.bundle.summary import summarize_bundle
    from lakeward.bundle.sync import synced_files

__getattr__ = lazy_exports(__name__, __file__)
