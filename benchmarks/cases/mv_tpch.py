"""The views of TPC-H under its refresh functions, against their full recomputation.

Tables have the columns, keys and cardinalities of TPC-H; values are hashes of the keys. A round runs refresh
function 1 (insert orders with their line items) or 2 (delete the oldest ones) on both sides. The 22 queries
are views: without ORDER BY and LIMIT, which belong to the reader of a view, and with joins instead of scalar
subqueries.
"""

# ruff: noqa: S608  # queries of fixed texts
from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.registry import Sides, case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
SCALE = float(os.environ.get("LAKEWARD_TPCH_SCALE", "1"))
SUPPLIERS, CUSTOMERS, PARTS, ORDERS = (
    max(40, round(SCALE * rows)) for rows in (10_000, 150_000, 200_000, 1_500_000)
)
REFRESHED = max(1, ORDERS // 1000)


def _hash(key: str, salt: int, values: int) -> str:
    return f"pmod(xxhash64({key}, {salt}), {values})"


def _one_of(key: str, salt: int, *texts: str) -> str:
    listed = ", ".join(f"'{text}'" for text in texts)
    return f"element_at(array({listed}), CAST(1 + {_hash(key, salt, len(texts))} AS INT))"


def _money(key: str, salt: int, low: int, high: int) -> str:
    cents = f"({low * 100} + {_hash(key, salt, (high - low) * 100)})"
    return f"CAST({cents} / 100 AS DECIMAL(12, 2))"


def _supplier_of(part: str, offer: str) -> str:
    return f"1 + ({part} + {offer} * ({SUPPLIERS} DIV 4 + ({part} - 1) DIV {SUPPLIERS})) % {SUPPLIERS}"


_ORDER_DATE = f"date_add(DATE'1992-01-01', CAST({_hash('id', 21, 2406)} AS INT))"
_PRICE = "CAST(900 + l_partkey % 1000 + (l_partkey % 100) / 100 AS DECIMAL(12, 2))"
NATIONS = """SELECT id AS n_nationkey, element_at(array('ALGERIA', 'ARGENTINA', 'BRAZIL', 'CANADA', 'EGYPT',
'ETHIOPIA', 'FRANCE', 'GERMANY', 'INDIA', 'INDONESIA', 'IRAN', 'IRAQ', 'JAPAN', 'JORDAN', 'KENYA', 'MOROCCO',
'MOZAMBIQUE', 'PERU', 'CHINA', 'ROMANIA', 'SAUDI ARABIA', 'VIETNAM', 'RUSSIA', 'UNITED KINGDOM',
'UNITED STATES'), CAST(id + 1 AS INT)) AS n_name, element_at(array(0, 1, 1, 1, 4, 0, 3, 3, 2, 2, 4, 4, 2, 4,
0, 0, 0, 1, 2, 3, 4, 2, 3, 3, 1), CAST(id + 1 AS INT)) AS n_regionkey FROM range(25)"""
FIXED = {
    "region": "SELECT id AS r_regionkey, element_at(array('AFRICA', 'AMERICA', 'ASIA', 'EUROPE', "
    "'MIDDLE EAST'), CAST(id + 1 AS INT)) AS r_name FROM range(5)",
    "nation": NATIONS,
    "supplier": f"""SELECT id AS s_suppkey, concat('Supplier#', id) AS s_name,
        {_hash("id", 1, 25)} AS s_nationkey, {_money("id", 2, -999, 9999)} AS s_acctbal,
        IF({_hash("id", 3, 200)} = 0, 'Customer Complaints', 'quiet') AS s_comment
        FROM range(1, {SUPPLIERS + 1})""",
    "customer": f"""SELECT id AS c_custkey, concat('Customer#', id) AS c_name,
        {_hash("id", 4, 25)} AS c_nationkey, {_money("id", 5, -999, 9999)} AS c_acctbal,
        concat(10 + {_hash("id", 4, 25)}, '-', {_hash("id", 6, 10**9)}) AS c_phone,
        {_one_of("id", 7, "AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")} AS c_mktsegment
        FROM range(1, {CUSTOMERS + 1})""",
    "part": f"""SELECT id AS p_partkey, concat_ws(' ',
        {_one_of("id", 8, "almond", "blue", "forest", "green", "ivory", "lace", "navy", "peru", "rose")},
        {_one_of("id", 9, "azure", "black", "green", "khaki", "linen", "plum", "red", "sky")}) AS p_name,
        concat('Manufacturer#', 1 + {_hash("id", 10, 5)}) AS p_mfgr,
        concat('Brand#', 1 + {_hash("id", 10, 5)}, 1 + {_hash("id", 11, 5)}) AS p_brand,
        concat_ws(' ', {_one_of("id", 12, "STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO")},
        {_one_of("id", 13, "ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED")},
        {_one_of("id", 14, "TIN", "NICKEL", "BRASS", "STEEL", "COPPER")}) AS p_type,
        1 + {_hash("id", 15, 50)} AS p_size,
        concat_ws(' ', {_one_of("id", 16, "SM", "LG", "MED", "JUMBO", "WRAP")},
        {_one_of("id", 17, "CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM")}) AS p_container
        FROM range(1, {PARTS + 1})""",
    "partsupp": f"""SELECT id DIV 4 + 1 AS ps_partkey,
        {_supplier_of("(id DIV 4 + 1)", "id % 4")} AS ps_suppkey,
        1 + {_hash("id", 18, 9999)} AS ps_availqty, {_money("id", 19, 1, 1000)} AS ps_supplycost
        FROM range({4 * PARTS})""",
}
GROWING = {
    "orders": f"""SELECT id AS o_orderkey, 1 + {_hash("id", 20, CUSTOMERS)} DIV 3 * 3 AS o_custkey,
        IF({_ORDER_DATE} < DATE'1995-03-01', 'F', 'O') AS o_orderstatus,
        {_money("id", 22, 900, 400_000)} AS o_totalprice, {_ORDER_DATE} AS o_orderdate,
        {_one_of("id", 23, "1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")} AS o_orderpriority,
        0 AS o_shippriority, IF({_hash("id", 24, 80)} = 0, 'special requests', 'usual') AS o_comment
        FROM range({{start}}, {{end}})""",
    "lineitem": f"""SELECT l_orderkey, l_linenumber, l_partkey,
        {_supplier_of("l_partkey", "seed % 4")} AS l_suppkey,
        l_quantity, CAST(l_quantity * {_PRICE} AS DECIMAL(12, 2)) AS l_extendedprice, l_discount, l_tax,
        CASE WHEN l_receiptdate > DATE'1995-06-17' THEN 'N' WHEN seed % 2 = 0 THEN 'R' ELSE 'A' END
        AS l_returnflag, IF(l_shipdate > DATE'1995-06-17', 'O', 'F') AS l_linestatus, l_shipdate,
        l_commitdate, l_receiptdate,
        {_one_of("seed", 31, "DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN")}
        AS l_shipinstruct,
        {_one_of("seed", 32, "REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB")} AS l_shipmode
        FROM (SELECT *, date_add(l_shipdate, CAST(1 + {_hash("seed", 33, 30)} AS INT)) AS l_receiptdate
        FROM (SELECT *, 1 + {_hash("seed", 34, PARTS)} AS l_partkey,
        CAST(1 + {_hash("seed", 35, 50)} AS DECIMAL(12, 2)) AS l_quantity,
        CAST({_hash("seed", 36, 11)} / 100 AS DECIMAL(12, 2)) AS l_discount,
        CAST({_hash("seed", 37, 9)} / 100 AS DECIMAL(12, 2)) AS l_tax,
        date_add(ordered, CAST(1 + {_hash("seed", 38, 121)} AS INT)) AS l_shipdate,
        date_add(ordered, CAST(30 + {_hash("seed", 39, 61)} AS INT)) AS l_commitdate
        FROM (SELECT *, abs(xxhash64(l_orderkey, l_linenumber)) AS seed FROM (SELECT id AS l_orderkey,
        {_ORDER_DATE} AS ordered, explode(sequence(1, CAST(1 + {_hash("id", 30, 7)} AS INT))) AS l_linenumber
        FROM range({{start}}, {{end}})))))""",
}
_REVENUE = "sum(l_extendedprice * (1 - l_discount))"
VIEWS = {
    "q01": f"""SELECT l_returnflag, l_linestatus, sum(l_quantity) AS quantity, sum(l_extendedprice) AS price,
        {_REVENUE} AS discounted, sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS charge,
        avg(l_quantity) AS mean_quantity, avg(l_discount) AS mean_discount, count(*) AS orders
        FROM lineitem WHERE l_shipdate <= DATE'1998-09-02' GROUP BY l_returnflag, l_linestatus""",
    "q02": """WITH offers AS (SELECT * FROM partsupp JOIN supplier ON ps_suppkey = s_suppkey
        JOIN nation ON s_nationkey = n_nationkey JOIN region ON n_regionkey = r_regionkey
        WHERE r_name = 'EUROPE')
        SELECT s_acctbal, s_name, n_name, p_partkey, p_mfgr FROM part JOIN offers ON p_partkey = ps_partkey
        JOIN (SELECT ps_partkey AS part, min(ps_supplycost) AS cost FROM offers GROUP BY ps_partkey)
        ON ps_partkey = part AND ps_supplycost = cost WHERE p_size = 15 AND p_type LIKE '%BRASS'""",
    "q03": f"""SELECT l_orderkey, o_orderdate, o_shippriority, {_REVENUE} AS revenue FROM lineitem
        JOIN orders ON l_orderkey = o_orderkey JOIN customer ON o_custkey = c_custkey
        WHERE c_mktsegment = 'BUILDING' AND o_orderdate < DATE'1995-03-15' AND l_shipdate > DATE'1995-03-15'
        GROUP BY l_orderkey, o_orderdate, o_shippriority""",
    "q04": """SELECT o_orderpriority, count(*) AS orders FROM orders WHERE o_orderdate >= DATE'1993-07-01'
        AND o_orderdate < DATE'1993-10-01' AND EXISTS (SELECT 1 FROM lineitem WHERE l_orderkey = o_orderkey
        AND l_commitdate < l_receiptdate) GROUP BY o_orderpriority""",
    "q05": f"""SELECT n_name, {_REVENUE} AS revenue FROM lineitem JOIN orders ON l_orderkey = o_orderkey
        JOIN customer ON o_custkey = c_custkey
        JOIN supplier ON l_suppkey = s_suppkey AND s_nationkey = c_nationkey
        JOIN nation ON s_nationkey = n_nationkey JOIN region ON n_regionkey = r_regionkey
        WHERE r_name = 'ASIA' AND year(o_orderdate) = 1994 GROUP BY n_name""",
    "q06": """SELECT sum(l_extendedprice * l_discount) AS revenue FROM lineitem
        WHERE year(l_shipdate) = 1994 AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24""",
    "q07": f"""SELECT a.n_name AS seller, b.n_name AS buyer, year(l_shipdate) AS y, {_REVENUE} AS revenue
        FROM lineitem JOIN supplier ON l_suppkey = s_suppkey JOIN orders ON l_orderkey = o_orderkey
        JOIN customer ON o_custkey = c_custkey JOIN nation a ON s_nationkey = a.n_nationkey
        JOIN nation b ON c_nationkey = b.n_nationkey WHERE year(l_shipdate) IN (1995, 1996)
        AND (a.n_name, b.n_name) IN (('FRANCE', 'GERMANY'), ('GERMANY', 'FRANCE'))
        GROUP BY a.n_name, b.n_name, year(l_shipdate)""",
    "q08": """SELECT y, sum(IF(n_name = 'BRAZIL', volume, 0)) / sum(volume) AS share FROM (
        SELECT year(o_orderdate) AS y, l_extendedprice * (1 - l_discount) AS volume, a.n_name
        FROM lineitem JOIN part ON l_partkey = p_partkey JOIN supplier ON l_suppkey = s_suppkey
        JOIN orders ON l_orderkey = o_orderkey JOIN customer ON o_custkey = c_custkey
        JOIN nation a ON s_nationkey = a.n_nationkey JOIN nation b ON c_nationkey = b.n_nationkey
        JOIN region ON b.n_regionkey = r_regionkey WHERE r_name = 'AMERICA'
        AND year(o_orderdate) IN (1995, 1996) AND p_type = 'ECONOMY ANODIZED STEEL') GROUP BY y""",
    "q09": """SELECT n_name, year(o_orderdate) AS y,
        sum(l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity) AS profit
        FROM lineitem JOIN part ON l_partkey = p_partkey JOIN supplier ON l_suppkey = s_suppkey
        JOIN partsupp ON l_partkey = ps_partkey AND l_suppkey = ps_suppkey
        JOIN orders ON l_orderkey = o_orderkey JOIN nation ON s_nationkey = n_nationkey
        WHERE p_name LIKE '%green%' GROUP BY n_name, year(o_orderdate)""",
    "q10": f"""SELECT c_custkey, c_name, c_acctbal, n_name, {_REVENUE} AS revenue FROM lineitem
        JOIN orders ON l_orderkey = o_orderkey JOIN customer ON o_custkey = c_custkey
        JOIN nation ON c_nationkey = n_nationkey WHERE o_orderdate >= DATE'1993-10-01'
        AND o_orderdate < DATE'1994-01-01' AND l_returnflag = 'R'
        GROUP BY c_custkey, c_name, c_acctbal, n_name""",
    "q11": f"""WITH stock AS (SELECT ps_partkey, ps_supplycost * ps_availqty AS worth FROM partsupp
        JOIN supplier ON ps_suppkey = s_suppkey JOIN nation ON s_nationkey = n_nationkey
        WHERE n_name = 'GERMANY')
        SELECT ps_partkey, part FROM (SELECT ps_partkey, sum(worth) AS part FROM stock GROUP BY ps_partkey)
        CROSS JOIN (SELECT sum(worth) AS whole FROM stock) WHERE part > whole * {0.0001 / SCALE:.10f}""",
    "q12": """SELECT l_shipmode, count_if(o_orderpriority IN ('1-URGENT', '2-HIGH')) AS high,
        count_if(o_orderpriority NOT IN ('1-URGENT', '2-HIGH')) AS low FROM lineitem
        JOIN orders ON l_orderkey = o_orderkey WHERE l_shipmode IN ('MAIL', 'SHIP')
        AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate AND year(l_receiptdate) = 1994
        GROUP BY l_shipmode""",
    "q13": """SELECT orders, count(*) AS customers FROM (SELECT c_custkey, count(o_orderkey) AS orders
        FROM customer LEFT JOIN orders ON c_custkey = o_custkey AND o_comment NOT LIKE '%special%requests%'
        GROUP BY c_custkey) GROUP BY orders""",
    "q14": f"""SELECT 100 * sum(IF(p_type LIKE 'PROMO%', l_extendedprice * (1 - l_discount), 0))
        / {_REVENUE} AS promotion FROM lineitem JOIN part ON l_partkey = p_partkey
        WHERE l_shipdate >= DATE'1995-09-01' AND l_shipdate < DATE'1995-10-01'""",
    "q15": f"""WITH totals AS (SELECT l_suppkey, {_REVENUE} AS total FROM lineitem
        WHERE l_shipdate >= DATE'1996-01-01' AND l_shipdate < DATE'1996-04-01' GROUP BY l_suppkey)
        SELECT s_suppkey, s_name, total FROM supplier JOIN totals ON s_suppkey = l_suppkey
        JOIN (SELECT max(total) AS most FROM totals) ON total = most""",
    "q16": """SELECT p_brand, p_type, p_size, count(DISTINCT ps_suppkey) AS suppliers FROM partsupp
        JOIN part ON ps_partkey = p_partkey WHERE p_brand <> 'Brand#45' AND p_type NOT LIKE 'MEDIUM POLISHED%'
        AND p_size IN (49, 14, 23, 45, 19, 3, 36, 9) AND NOT EXISTS (SELECT 1 FROM supplier
        WHERE s_suppkey = ps_suppkey AND s_comment LIKE '%Customer%Complaints%')
        GROUP BY p_brand, p_type, p_size""",
    "q17": """SELECT sum(l_extendedprice) / 7 AS yearly FROM lineitem JOIN part ON l_partkey = p_partkey
        JOIN (SELECT l_partkey AS key, 0.2 * avg(l_quantity) AS few FROM lineitem GROUP BY l_partkey)
        ON p_partkey = key WHERE p_brand = 'Brand#23' AND p_container = 'MED BOX' AND l_quantity < few""",
    "q18": """SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, quantity FROM customer
        JOIN orders ON c_custkey = o_custkey JOIN (SELECT l_orderkey, sum(l_quantity) AS quantity
        FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > 300) ON o_orderkey = l_orderkey""",
    "q19": f"""SELECT {_REVENUE} AS revenue FROM lineitem JOIN part ON l_partkey = p_partkey
        WHERE l_shipmode IN ('AIR', 'REG AIR') AND l_shipinstruct = 'DELIVER IN PERSON' AND (
        (p_brand = 'Brand#12' AND p_container LIKE 'SM%' AND l_quantity BETWEEN 1 AND 11 AND p_size <= 5)
        OR (p_brand = 'Brand#23' AND p_container LIKE 'MED%' AND l_quantity BETWEEN 10 AND 20
        AND p_size <= 10)
        OR (p_brand = 'Brand#34' AND p_container LIKE 'LG%' AND l_quantity BETWEEN 20 AND 30
        AND p_size <= 15))""",
    "q20": """SELECT s_suppkey, s_name FROM supplier JOIN nation ON s_nationkey = n_nationkey
        WHERE n_name = 'CANADA' AND EXISTS (SELECT 1 FROM partsupp JOIN part ON ps_partkey = p_partkey
        JOIN (SELECT l_partkey, l_suppkey, sum(l_quantity) AS sold FROM lineitem
        WHERE year(l_shipdate) = 1994 GROUP BY l_partkey, l_suppkey)
        ON ps_partkey = l_partkey AND ps_suppkey = l_suppkey
        WHERE ps_suppkey = s_suppkey AND p_name LIKE 'forest%' AND ps_availqty > 0.5 * sold)""",
    "q21": """SELECT s_name, count(*) AS waits FROM supplier JOIN lineitem a ON s_suppkey = a.l_suppkey
        JOIN orders ON o_orderkey = a.l_orderkey JOIN nation ON s_nationkey = n_nationkey
        WHERE o_orderstatus = 'F' AND n_name = 'SAUDI ARABIA' AND a.l_receiptdate > a.l_commitdate
        AND EXISTS (SELECT 1 FROM lineitem b WHERE b.l_orderkey = a.l_orderkey
        AND b.l_suppkey <> a.l_suppkey) AND NOT EXISTS (SELECT 1 FROM lineitem c
        WHERE c.l_orderkey = a.l_orderkey AND c.l_suppkey <> a.l_suppkey
        AND c.l_receiptdate > c.l_commitdate) GROUP BY s_name""",
    "q22": """WITH called AS (SELECT *, left(c_phone, 2) AS code FROM customer
        WHERE left(c_phone, 2) IN ('13', '31', '23', '29', '30', '18', '17'))
        SELECT code, count(*) AS customers, sum(c_acctbal) AS balance FROM called
        CROSS JOIN (SELECT avg(c_acctbal) AS mean FROM called WHERE c_acctbal > 0)
        WHERE c_acctbal > mean AND NOT EXISTS (SELECT 1 FROM orders WHERE o_custkey = c_custkey)
        GROUP BY code""",
}
_SOURCE_SCHEMAS = {"ours": "main.ours_source", "peer": "main.peer_source"}


@case("mv.tpch_refresh", goal=0.25, warmups=0)
@contextmanager
def tpch_refresh(folder: Path) -> Iterator[Sides]:
    """All 22 views after a refresh function on orders and line items."""
    import lakeward.session as lw
    from lakeward import pipelines

    spark = lw.session(lw.Settings.here(folder / "state", environ={}))
    rounds = count()
    techniques: dict[str, str] = {}
    for side, source in _SOURCE_SCHEMAS.items():
        lw.ensure_schema(spark, *source.split("."))
        lw.ensure_schema(spark, "main", side)
        for table, query in {**FIXED, **GROWING}.items():
            # As a new table on Databricks has.
            vectors = "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
            spark.sql(f"CREATE TABLE {source}.{table} {vectors} AS {query.format(start=1, end=ORDERS + 1)}")
        policy = "INCREMENTAL" if side == "ours" else "FULL"
        views = [
            f"CREATE MATERIALIZED VIEW {name} REFRESH POLICY {policy} AS {_of_schema(query, source)};"
            for name, query in VIEWS.items()
        ]
        (folder / f"{side}.sql").write_text("\n".join(views))

    def prepare() -> None:
        # Called before each side: both have the same changes.
        turn = next(rounds)
        for source in _SOURCE_SCHEMAS.values() if turn % 2 == 0 else ():
            _refresh_function(spark, source, turn // 2)

    def record(progress: pipelines.Progress) -> None:
        if progress.dataset and progress.state == "COMPLETED":
            techniques[progress.dataset] = progress.message

    def update(side: str) -> str:
        done = pipelines.run(
            [folder / f"{side}.sql"],
            pipelines.UpdateOptions(
                name=side,
                schema=side,
                storage=folder / "storage" / side,
                on_event=record if side == "ours" else None,
            ),
            session=spark,
        )
        if done.state != "COMPLETED":
            raise RuntimeError(done.error)
        return side

    update("ours")
    update("peer")

    def figures() -> dict[str, float]:
        print(techniques, file=sys.stderr)
        incremental = [each for each in techniques.values() if "COMPLETE_RECOMPUTE" not in each]
        return {"views": len(VIEWS), "incremental": len(incremental)}

    yield Sides(lambda: update("ours"), lambda: update("peer"), prepare=prepare, figures=figures)
    for name in VIEWS:
        ours, peer = spark.table(f"main.ours.{name}"), spark.table(f"main.peer.{name}")
        if ours.exceptAll(peer).unionAll(peer.exceptAll(ours)).limit(1).count():
            raise AssertionError(f"{name} differs from its recomputation")


def _of_schema(query: str, source: str) -> str:
    return re.sub(rf"\b(FROM|JOIN) ({'|'.join({**FIXED, **GROWING})})\b", rf"\1 {source}.\2", query)


def _refresh_function(spark: SparkSession, source: str, number: int) -> None:
    """Insert or delete a thousandth of the orders with their line items."""
    step = number // 2
    if number % 2 == 0:
        start = ORDERS + 1 + step * REFRESHED
        for table, query in GROWING.items():
            spark.sql(f"INSERT INTO {source}.{table} {query.format(start=start, end=start + REFRESHED)}")
        return
    least, most = 1 + step * REFRESHED, (step + 1) * REFRESHED
    for table, key in (("orders", "o_orderkey"), ("lineitem", "l_orderkey")):
        spark.sql(f"DELETE FROM {source}.{table} WHERE {key} BETWEEN {least} AND {most}")
