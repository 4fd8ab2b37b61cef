"""The relations of the information schema whose rows come from the lakehouse's metadata files."""

from __future__ import annotations

from lakeward.sql.information_schema.relations import ReadInformationSchema
