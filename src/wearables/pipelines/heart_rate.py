"""Heart rates, validated and unique."""

import dlt
from pyspark.sql import DataFrame

from wearables import rules
from wearables.transforms import heart_rates, heart_rates_once


@dlt.table(comment="One heart rate per device and time; `repeats` counts the further records of it")
@dlt.expect_all_or_drop(rules.HEART_RATE)
def heart_rate() -> DataFrame:
    """Valid heart rates; what is dropped here is in `quarantine`."""
    return heart_rates_once(heart_rates(dlt.read("bronze")))
