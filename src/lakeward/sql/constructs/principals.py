"""SHOW USERS and SHOW GROUPS: the principals of the target's workspace.

Sources: https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-syntax-aux-show-users
and https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-syntax-aux-show-groups
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.principals import Principals, read_principals
from lakeward.sql.construct import Command, Construct, Rows, in_area
from lakeward.sql.constructs.catalogs import like_pattern
from lakeward.sql.constructs.functions import configured_groups
from lakeward.sql.session_context import current_context, matches_pattern
from lakeward.sql.token_cursor import TokenCursor

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class ShowUsers(Command):
    """Lists the users."""

    like: str | None

    def run(self, spark: SparkSession) -> Rows:
        names = sorted(_principals(spark).users)
        return Rows("name STRING NOT NULL", [[name] for name in names if matches_pattern(self.like, name)])


@dataclass(frozen=True)
class ShowGroups(Command):
    """Lists the groups, or those that `member` is in, directly or by another group."""

    member: str | None
    like: str | None

    def run(self, spark: SparkSession) -> Rows:
        found = _principals(spark)
        of_member = None if self.member is None else found.memberships(self.member)
        names = sorted(found.groups if of_member is None else of_member)
        rows = [[name, of_member and of_member[name]] for name in names if matches_pattern(self.like, name)]
        return Rows("name STRING NOT NULL, directGroup BOOLEAN", rows)


def _principals(spark: SparkSession) -> Principals:
    settings = current_context(spark).settings
    return read_principals(settings.state, settings.user, configured_groups(spark))


def _show_users(cursor: TokenCursor) -> ShowUsers:
    cursor.need("SHOW", "USERS")
    like = like_pattern(cursor)
    cursor.end()
    return ShowUsers(like)


def _show_groups(cursor: TokenCursor) -> ShowGroups:
    cursor.need("SHOW", "GROUPS")
    member = None
    if cursor.words("WITH"):
        cursor.one_of("USER", "GROUP")
        member = cursor.part_or_string()
    like = like_pattern(cursor)
    cursor.end()
    return ShowGroups(member, like)


CONSTRUCTS = in_area(
    "Governance",
    Construct(
        name="SHOW USERS",
        example="SHOW USERS LIKE '*@example.com'",
        note="the users of the target's workspace",
        statement=_show_users,
    ),
    Construct(
        name="SHOW GROUPS",
        example="SHOW GROUPS WITH USER `ada@example.com`",
        note="the groups of the target's workspace, and those of `spark.lakeward.groups` or LAKEWARD_GROUPS",
        statement=_show_groups,
    ),
)
