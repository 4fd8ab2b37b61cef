"""Databricks SQL on open-source Spark: one front end inside the session's parser.

What Spark parses goes to Spark letter for letter. The rest is looked up in one table of constructs
(`CONSTRUCTS`): rewritten on the level of tokens, carried out here, or refused with a reason. Importing
this room does not import pyspark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.sql.commands import serve
from lakeward.sql.commands.event_log import NAME_FILE, PIPELINE
from lakeward.sql.construct import Construct, Verdict
from lakeward.sql.constructs import CONSTRUCTS
from lakeward.sql.cursor import Cursor, Unmatched, unquoted
from lakeward.sql.document import as_markdown
from lakeward.sql.outcome import Command, Edit, Edits, Outcome, Refusal, applied
from lakeward.sql.parameters import filled
from lakeward.sql.phrases import PHRASES, Phrase
from lakeward.sql.rewrite import constructs_in, rewrite
from lakeward.sql.statements import is_complete, spans, split
from lakeward.sql.tokens import Token, tokenize

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "CONSTRUCTS",
    "NAME_FILE",
    "PHRASES",
    "PIPELINE",
    "Command",
    "Construct",
    "Cursor",
    "Edit",
    "Edits",
    "Outcome",
    "Phrase",
    "Refusal",
    "Token",
    "Unmatched",
    "Verdict",
    "applied",
    "as_markdown",
    "constructs_in",
    "filled",
    "install",
    "is_complete",
    "rewrite",
    "serve",
    "spans",
    "split",
    "tokenize",
    "unquoted",
]


def install(spark: SparkSession) -> None:
    """Let the session's parser ask this process about what Spark does not parse.

    Cheap and idempotent. On Databricks it must not be called: the platform has its own.
    """
    from lakeward.sql.bridge import connect

    connect(spark)
