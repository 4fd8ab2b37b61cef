"""The part of the workspace's REST API that needs only the state folder.

Secrets, files, DBFS, volumes, workspace files, the current user, runtimes, and the catalogs, schemas and
tables that exist. Clients without credentials are served in this process (`respond`, `adapter`); other paths
fail with an error that names `lakeward workspace`. That server uses the same functions for these routes.
"""

from __future__ import annotations

from lakeward.databricks_shims.local_workspace import catalogs as catalog_handlers
from lakeward.databricks_shims.local_workspace import files as file_handlers
from lakeward.databricks_shims.local_workspace import volumes as volume_handlers
from lakeward.databricks_shims.local_workspace import workspace_files as workspace_handlers
from lakeward.databricks_shims.local_workspace.adapter import HOST, adapter
from lakeward.databricks_shims.local_workspace.api_error import ApiError, invalid_parameter, missing
from lakeward.databricks_shims.local_workspace.api_request import (
    MAX_INTEGER,
    ApiRequest,
    ApiResponse,
    exclusively,
    printable,
)
from lakeward.databricks_shims.local_workspace.body import request_types
from lakeward.databricks_shims.local_workspace.catalogs import is_like
from lakeward.databricks_shims.local_workspace.contained_paths import (
    CONNECTION,
    check_inside,
    check_name,
    is_name,
)
from lakeward.databricks_shims.local_workspace.dbfs import remove_idle_uploads
from lakeward.databricks_shims.local_workspace.object_descriptions import change_description
from lakeward.databricks_shims.local_workspace.pages import paginate, paginate_query
from lakeward.databricks_shims.local_workspace.routes import (
    ROUTES,
    Handler,
    Route,
    Table,
    handle_request,
    refuse,
    respond,
)
from lakeward.databricks_shims.local_workspace.table_files import (
    is_table,
    remove_table,
    table_names,
    type_name,
)
from lakeward.databricks_shims.local_workspace.users import groups_of, user_id
from lakeward.databricks_shims.local_workspace.workspace_files import make_home, object_id
