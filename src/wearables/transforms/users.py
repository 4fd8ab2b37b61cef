"""Users: their changes, their pseudonyms, and what analysts may know of them."""

from __future__ import annotations

import hashlib
import hmac

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from wearables.topics import USER_INFO
from wearables.transforms.payloads import typed_payloads

__all__ = ["AGE_BANDS", "age_band", "age_bands", "pseudonyms", "user_changes"]

AGE_BANDS = (
    (18, "under 18"),
    (25, "18-24"),
    (35, "25-34"),
    (45, "35-44"),
    (55, "45-54"),
    (65, "55-64"),
    (120, "65+"),
)
"""First age that is too old for the band, and the band."""


def user_changes(bronze: DataFrame) -> DataFrame:
    """Decode the changes of users, invalid ones included.

    `sequence` orders the changes of a user: the CRM's second, the gateway's millisecond and, for what is
    still equal, a digest of the change. A change that was sent again has the same sequence and content.
    """
    payloads = typed_payloads(bronze, USER_INFO).filter("readable")
    sequence = F.struct("updated", "received", F.xxhash64("record").alias("digest"))
    return payloads.select(*USER_INFO.columns, sequence.alias("sequence"))


def pseudonyms(users: DataFrame, *, key: str, key_name: str) -> DataFrame:
    """Give each user_id its pseudonym: HMAC-SHA256 with `key`, the first 128 bits in hexadecimal.

    A plain hash of a small number is reversed by hashing all numbers; a keyed one needs the key. The key is
    in a function and not in an expression, so that no plan shows it.
    """

    secret = key.encode()
    keyed = F.udf(
        lambda user_id: hmac.new(secret, str(user_id).encode(), hashlib.sha256).hexdigest()[:32], "string"
    )
    distinct = users.select("user_id").filter("user_id IS NOT NULL").distinct()
    return distinct.select("user_id", keyed("user_id").alias("pseudonym"), F.lit(key_name).alias("key_name"))


def age_bands(users: DataFrame, keys: DataFrame, bronze: DataFrame) -> DataFrame:
    """Generalise users: pseudonym, age band, gender, state.

    Ages are those on the newest day of bronze and not of the clock: the same files give the same rows.
    """
    newest = bronze.agg(F.max("date").alias("today"))
    age = F.floor(F.months_between("today", "dob") / 12)
    return (
        users.join(keys, "user_id")
        .crossJoin(F.broadcast(newest))
        .select("pseudonym", age_band(age).alias("age_band"), "gender", "state")
    )


def age_band(age: Column) -> Column:
    """Return the band of an age in years; an impossible or unknown age is `unknown`."""
    band = F.when(age.isNull() | (age < 0), "unknown")
    for limit, name in AGE_BANDS:
        band = band.when(age < limit, name)
    return band.otherwise("unknown")
