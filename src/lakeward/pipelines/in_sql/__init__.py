"""SQL files of pipelines: their statements declare what the Python API declares, by its own functions."""

from lakeward.pipelines.in_sql.columns import masks_in, plain_ddl
from lakeward.pipelines.in_sql.declaring import SqlFile
from lakeward.pipelines.in_sql.document import as_markdown
from lakeward.pipelines.in_sql.snapshots import SqlSnapshots
from lakeward.pipelines.in_sql.text import blank_live

__all__ = ["SqlFile", "SqlSnapshots", "as_markdown", "blank_live", "masks_in", "plain_ddl"]
