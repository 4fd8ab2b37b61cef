"""Isolated environments for the tests of repositories that do not depend on lakeward.

`prepare_environment` returns the environment of a folder, built and cached if missing. Databricks Connect in
this process's environment conflicts with lakeward: `conflicting_connect_version` finds it. `STAND_INS` are
the packages that lakeward replaces; `pinned_by` returns the runtime that a repository's pins on them choose.
`find_runtime_package` and `distribution_of` tell which package has a module, in a runtime and elsewhere.
`Layers` builds the packages of a job's task, a pipeline or a notebook on top of this environment, and
`active` lets this process use them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.environments.conflict import CLASH, conflicting_connect_version, removal_command
from lakeward.lazy_imports import lazy_exports

if TYPE_CHECKING:
    from lakeward.environments.activation import active, forget_replaced, importable
    from lakeward.environments.declared import read_lines
    from lakeward.environments.distributions import NAMESPACES, distribution_of
    from lakeward.environments.installed import declared_requirements, missing_requirements
    from lakeward.environments.layers import Layer, Layers
    from lakeward.environments.preparation import Environment, prepare_environment
    from lakeward.environments.provided_packages import STAND_INS
    from lakeward.environments.runtime import pinned_by
    from lakeward.environments.runtime_packages import (
        RuntimePackage,
        find_runtime_package,
        packages_of_runtimes,
    )
    from lakeward.environments.sources import requirements_of_project
    from lakeward.environments.sources.reading import decoded_text
    from lakeward.environments.wheel_building import build_wheel

# Every command imports `conflict`, which must not wait for the rest.
__getattr__ = lazy_exports(__name__, __file__)
