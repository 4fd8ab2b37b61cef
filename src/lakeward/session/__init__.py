"""Public API of the session: create it, configure it, map paths, explain Spark's errors.

Importing this package starts nothing and imports no PySpark. The package is callable: `lakeward.session()` is
`lakeward.session.session()`. The imports below are the list of public names; each is loaded on first access.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from lakeward.lazy_imports import lazy_exports

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.session.active_session import (
        current_settings,
        default_settings,
        mapped_paths,
        on_databricks,
        resume_session,
        session,
        set_default_settings,
    )
    from lakeward.session.ansi import ANSI_CONDITIONS, ansi_hint, removed_function_hint
    from lakeward.session.cache import cache_dir, ensure_dir, not_writable
    from lakeward.session.configuration.session_conf import CLOUD_SCHEMES, available_cores
    from lakeward.session.configuration.spark_packages import CONNECTORS
    from lakeward.session.configuration.temporary_conf import USER_METADATA, temporary_conf
    from lakeward.session.configuration.user_conf import AUTOMATIC_VALUES
    from lakeward.session.daemon import drain, is_lost, jvm_lost, stop_daemons, use_daemon
    from lakeward.session.declared_catalogs import (
        BUILT_IN_CATALOGS,
        CATALOGS_VARIABLE,
        DEFAULT_CATALOGS,
        PROVIDED_CATALOGS,
        catalog_hint,
        catalog_remedy,
        extend_catalogs,
        missing_catalog,
        missing_schema,
        schema_hint,
    )
    from lakeward.session.entry_points.session_builder_patch import (
        install_builder_hook,
        install_connect_hook,
        serve_on_demand,
        start_on_access,
        uninstall_builder_hook,
    )
    from lakeward.session.geospatial_table import GeospatialFunction, geospatial_functions
    from lakeward.session.hive_warehouse import link_hive_schemas
    from lakeward.session.jvm.interrupts import count_interrupts, keep_interrupts
    from lakeward.session.jvm.jars import jars_summary
    from lakeward.session.jvm.java_runtime import java_summary
    from lakeward.session.jvm.shared_jvm import GatewayAddress, GatewayServer, shared_gateway, use_shared_jvm
    from lakeward.session.missing_folders import folder_hint, misses_file
    from lakeward.session.mount_table import MOUNTS_VARIABLE, encode_mounts, read_mount, read_mounts
    from lakeward.session.patches.connect_finder import CONNECT_MODULES
    from lakeward.session.patches.pyspark_patches import INSERTED_COLUMNS
    from lakeward.session.patches.serverless_enforcement import allow_settings
    from lakeward.session.patches.spark_version import use_package_version
    from lakeward.session.path_rules import PATH_RULES, dbfs_paths
    from lakeward.session.paths import PathMap
    from lakeward.session.platform_files import (
        MOUNT_ADVICE,
        find_platform_file,
        find_platform_folder,
        find_platform_sources,
        is_platform_path,
    )
    from lakeward.session.runtimes.profiles import (
        DEFAULT_PROFILE,
        PROFILES,
        Profile,
        find_profile,
        get_profile,
    )
    from lakeward.session.runtimes.serverless_limitations import (
        SERVERLESS_LIMITS,
        SERVERLESS_NAMES,
        SERVERLESS_SETTINGS,
        SERVERLESS_STATEMENTS,
        SERVERLESS_TRIGGERS,
        refused_statement,
    )
    from lakeward.session.settings import Settings, project_file, project_table
    from lakeward.session.spark_errors import (
        condense_error,
        condition_of,
        full_text,
        is_disk_full,
        message_of,
    )
    from lakeward.session.tables.catalogs import (
        SchemaOnlyTables,
        create_and_enter_schema,
        ensure_catalog,
        ensure_schema,
        enter_schema,
        in_catalog,
        is_private_table,
        private_tables,
        schema_only_tables,
        show_users_name,
        stored_name,
        users_schema,
    )
    from lakeward.session.tables.information_schema import (
        INFORMATION_SCHEMA,
        INFORMATION_SCHEMA_ABOUT,
        INFORMATION_SCHEMA_NAME,
        SELECTING_COLUMNS,
        is_information_schema,
    )

__getattr__ = lazy_exports(__name__, __file__)


class _CallableModule(ModuleType):
    def __call__(self, settings: Settings | None = None) -> SparkSession:
        from lakeward.session import active_session

        return active_session.session(settings)


sys.modules[__name__].__class__ = _CallableModule
