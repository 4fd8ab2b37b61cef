"""One way to get a Spark session: settings, catalogs, paths, commits and hooks.

Importing this room starts nothing and does not import pyspark. The room itself can be called:
`lakeward.session()` is `lakeward.session.session()`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from lakeward.on_demand import from_modules

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.session.cache import cache_dir, made, not_writable
    from lakeward.session.catalogs import ensure_catalog, ensure_schema, in_catalog, java_array
    from lakeward.session.changes import every_change
    from lakeward.session.conf import cores
    from lakeward.session.connect_finder import CONNECT_MODULES
    from lakeward.session.connectors import CONNECTORS
    from lakeward.session.current import (
        current_settings,
        on_databricks,
        prepare,
        session,
        set_default_settings,
    )
    from lakeward.session.hidden_tables import is_private_table, private_tables, stored_name
    from lakeward.session.hooks import (
        install_builder_hook,
        install_connect_hook,
        serve_on_demand,
        uninstall_builder_hook,
    )
    from lakeward.session.information_schema import INFORMATION_SCHEMA
    from lakeward.session.paths import PathMap
    from lakeward.session.planning import Planning, planned
    from lakeward.session.profiles import DEFAULT_PROFILE, PROFILES, Profile, known, profile
    from lakeward.session.project import project_file, project_table
    from lakeward.session.resident import Stopped, drain, is_lost, jvm_lost, stop_residents, use_resident
    from lakeward.session.serverless import (
        SERVERLESS_LIMITS,
        SERVERLESS_NAMES,
        SERVERLESS_SETTINGS,
        SERVERLESS_STATEMENTS,
        SERVERLESS_TRIGGERS,
        Limit,
        StatementLimit,
        refused_statement,
    )
    from lakeward.session.settings import Settings
    from lakeward.session.sharing import Offer, Shared, borrow, borrowed, offer
    from lakeward.session.spark_errors import (
        condensed,
        condition_of,
        everything_said,
        is_disk_full,
        message_of,
    )

__all__ = [
    "CONNECTORS",
    "CONNECT_MODULES",
    "DEFAULT_PROFILE",
    "INFORMATION_SCHEMA",
    "PROFILES",
    "SERVERLESS_LIMITS",
    "SERVERLESS_NAMES",
    "SERVERLESS_SETTINGS",
    "SERVERLESS_STATEMENTS",
    "SERVERLESS_TRIGGERS",
    "Limit",
    "Offer",
    "PathMap",
    "Planning",
    "Profile",
    "Settings",
    "Shared",
    "StatementLimit",
    "Stopped",
    "borrow",
    "borrowed",
    "cache_dir",
    "condensed",
    "condition_of",
    "cores",
    "current_settings",
    "drain",
    "ensure_catalog",
    "ensure_schema",
    "every_change",
    "everything_said",
    "in_catalog",
    "install_builder_hook",
    "install_connect_hook",
    "is_disk_full",
    "is_lost",
    "is_private_table",
    "java_array",
    "jvm_lost",
    "known",
    "made",
    "message_of",
    "not_writable",
    "offer",
    "on_databricks",
    "planned",
    "prepare",
    "private_tables",
    "profile",
    "project_file",
    "project_table",
    "refused_statement",
    "serve_on_demand",
    "session",
    "set_default_settings",
    "stop_residents",
    "stored_name",
    "uninstall_builder_hook",
    "use_resident",
]


# Every Python worker passes through here, and most of them need none of it.
__getattr__ = from_modules(
    __name__,
    {
        "cache": ["cache_dir", "made", "not_writable"],
        "catalogs": ["ensure_catalog", "ensure_schema", "in_catalog", "java_array"],
        "changes": ["every_change"],
        "conf": ["cores"],
        "connect_finder": ["CONNECT_MODULES"],
        "connectors": ["CONNECTORS"],
        "current": ["current_settings", "on_databricks", "prepare", "session", "set_default_settings"],
        "hidden_tables": ["is_private_table", "private_tables", "stored_name"],
        "hooks": [
            "install_builder_hook",
            "install_connect_hook",
            "serve_on_demand",
            "uninstall_builder_hook",
        ],
        "information_schema": ["INFORMATION_SCHEMA"],
        "paths": ["PathMap"],
        "planning": ["Planning", "planned"],
        "profiles": ["DEFAULT_PROFILE", "PROFILES", "Profile", "known", "profile"],
        "project": ["project_file", "project_table"],
        "resident": ["Stopped", "drain", "is_lost", "jvm_lost", "stop_residents", "use_resident"],
        "serverless": [
            "SERVERLESS_LIMITS",
            "SERVERLESS_NAMES",
            "SERVERLESS_SETTINGS",
            "SERVERLESS_STATEMENTS",
            "SERVERLESS_TRIGGERS",
            "Limit",
            "StatementLimit",
            "refused_statement",
        ],
        "settings": ["Settings"],
        "sharing": ["Offer", "Shared", "borrow", "borrowed", "offer"],
        "spark_errors": ["condensed", "condition_of", "everything_said", "is_disk_full", "message_of"],
    },
)


class _Room(ModuleType):
    def __call__(self, settings: Settings | None = None) -> SparkSession:
        from lakeward.session import current

        return current.session(settings)


sys.modules[__name__].__class__ = _Room
