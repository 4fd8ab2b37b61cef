"""Projects of dbt with the connection of the local workspace: profiles, variables, and processes of dbt.

`find_project` and `DbtProject` tell what a project declares. `connection_variables` and `warehouse_profile`
are what the platform gives a dbt task, `UserProfile` is a user's profile, also with that connection.
`dbt_process` is the command line of a process of dbt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.lazy_imports import lazy_exports

if TYPE_CHECKING:
    from lakeward.dbt.catalogs import declared_catalogs
    from lakeward.dbt.process import dbt_process, has_dbt
    from lakeward.dbt.profiles import (
        UserProfile,
        connection_variables,
        find_profiles,
        warehouse_profile,
        write_profiles,
    )
    from lakeward.dbt.project import (
        PROJECT_FILE,
        DbtProject,
        find_project,
        project_folder,
    )
    from lakeward.dbt.variables import parse_variables

__getattr__ = lazy_exports(__name__, __file__)
