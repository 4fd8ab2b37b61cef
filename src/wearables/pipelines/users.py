"""Users as they are now, and as they were."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

from wearables import privacy
from wearables.topics import USER_INFO
from wearables.transforms import user_changes

spark = SparkSession.active()


@dp.temporary_view(name="user_changes")
@dp.expect_all_or_drop(USER_INFO.rules)
def changes() -> DataFrame:
    """Valid changes; what is dropped here is in `quarantine`.

    Rows may be deleted from bronze: the stream skips such commits and continues.
    """
    return user_changes(spark.readStream.option("skipChangeCommits", "true").table("bronze"))


def declare(target: str, comment: str, scd_type: int) -> None:
    """Declare a table that AUTO CDC keeps: changes may arrive late, repeated and in any order."""
    dp.create_streaming_table(target, comment=comment, table_properties=privacy.properties(spark, target))
    dp.create_auto_cdc_flow(
        target=target,
        source="user_changes",
        keys=list(USER_INFO.key),
        sequence_by="sequence",
        apply_as_deletes="update_type = 'delete'",
        except_column_list=["update_type", "received", "sequence"],
        stored_as_scd_type=scd_type,  # type: ignore[arg-type]  # open-source PySpark has type 1 alone
    )


declare("users", USER_INFO.comment, 1)
declare("users_history", "Every version of a user; the open ones, without __END_AT, are the rows of users", 2)
