"""Databricks SQL on open-source Spark: a rewriter inside the session's parser.

Spark parses every statement first, unchanged. What it cannot parse is looked up in one table of constructs
(`CONSTRUCTS`): its tokens are rewritten, it runs here as a command, or it fails with a reason. Importing this
package does not import pyspark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.lazy_imports import lazy_exports

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.sql.construct import (
        Command,
        Construct,
        Edit,
        Edits,
        Refusal,
        Rows,
        apply_edits,
        register_function,
        register_handler,
        wrong_argument_count,
    )
    from lakeward.sql.constructs.catalog_listings import (
        JDBC_FUNCTION_TYPE,
        JDBC_SPECIFIC_NAME,
        JDBC_TABLE_TYPE,
    )
    from lakeward.sql.constructs.clone import CopyLoadHistory
    from lakeward.sql.constructs.configuration_parameters import SQL_PARAMETERS, WAREHOUSE_SESSION
    from lakeward.sql.constructs.copy_into import CopyInto
    from lakeward.sql.constructs.event_log import NAME_FILE, PIPELINE, managing_pipeline, pipeline_storage
    from lakeward.sql.constructs.materialized_views import (
        AlterSchedule,
        CreateStandaloneTable,
        DropMaterializedView,
        ExplainMaterializedView,
        RefreshStandaloneTable,
    )
    from lakeward.sql.constructs.property_list import read_properties
    from lakeward.sql.constructs.tables import TrimLoadHistory
    from lakeward.sql.constructs.tag_policy_evaluation import protection_of
    from lakeward.sql.parameters import fill_parameters, unbound_parameters
    from lakeward.sql.passthrough_statements import PASSTHROUGH_STATEMENTS, PassthroughStatement
    from lakeward.sql.platform_functions import MISSING as MISSING_FUNCTIONS
    from lakeward.sql.refresh_schedules import read_schedule, read_update_trigger
    from lakeward.sql.rewriter import CONSTRUCTS, constructs_in, rewrite
    from lakeward.sql.session_context import current_context, run_with_delta
    from lakeward.sql.sql_types import type_text
    from lakeward.sql.standalone_tables import (
        LABELS,
        DatasetKind,
        Refresh,
        StandaloneTable,
        find_standalone_table,
        list_standalone_tables,
    )
    from lakeward.sql.statement_timeout import STATEMENT_TIMEOUT, set_timeout, time_limit
    from lakeward.sql.token_cursor import (
        Token,
        TokenCursor,
        Unmatched,
        is_complete,
        spans,
        split,
        tokenize,
        unquote_token,
    )
    from lakeward.sql.transactions import end_session

# Tasks and notebooks in Python need nothing of the constructs.
__getattr__ = lazy_exports(__name__, __file__)


def install(spark: SparkSession) -> None:
    """Connect the session's parser to this process, and roll back what killed processes left. Idempotent.

    Must not be called on Databricks, whose parser has these constructs.
    """
    from lakeward.sql.jvm_bridge import connect
    from lakeward.sql.transactions import recover

    connect(spark)
    recover(spark)
