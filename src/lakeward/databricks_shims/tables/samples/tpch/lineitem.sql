WITH lines AS (
  SELECT o.id AS orderkey, CAST(n.id AS INT) AS line, o.id * 8 + n.id AS k,
    date_add(DATE'1992-01-01', CAST(pmod(xxhash64(o.id, 'date'), 2405) AS INT)) AS ordered
  FROM range(1, 1501) o CROSS JOIN range(1, 8) n
  WHERE n.id <= 1 + pmod(xxhash64(o.id, 'lines'), 7)
)
SELECT
  orderkey AS l_orderkey,
  1 + pmod(xxhash64(k, 'part'), 200) AS l_partkey,
  1 + pmod(xxhash64(k, 'supplier'), 10) AS l_suppkey,
  line AS l_linenumber,
  CAST(1 + pmod(xxhash64(k, 'quantity'), 50) AS DECIMAL(18, 2)) AS l_quantity,
  CAST((1 + pmod(xxhash64(k, 'quantity'), 50)) * (90000 + pmod(xxhash64(k, 'price'), 110000)) / 100 AS DECIMAL(18, 2)) AS l_extendedprice,
  CAST(pmod(xxhash64(k, 'discount'), 11) / 100 AS DECIMAL(18, 2)) AS l_discount,
  CAST(pmod(xxhash64(k, 'tax'), 9) / 100 AS DECIMAL(18, 2)) AS l_tax,
  array('A', 'N', 'R')[CAST(pmod(xxhash64(k, 'returned'), 3) AS INT)] AS l_returnflag,
  array('F', 'O')[CAST(pmod(xxhash64(k, 'state'), 2) AS INT)] AS l_linestatus,
  date_add(ordered, CAST(1 + pmod(xxhash64(k, 'shipped'), 121) AS INT)) AS l_shipdate,
  date_add(ordered, CAST(30 + pmod(xxhash64(k, 'promised'), 61) AS INT)) AS l_commitdate,
  date_add(ordered, CAST(2 + pmod(xxhash64(k, 'shipped'), 121) + pmod(xxhash64(k, 'received'), 30) AS INT)) AS l_receiptdate,
  array('COLLECT COD', 'DELIVER IN PERSON', 'NONE', 'TAKE BACK RETURN')[CAST(pmod(xxhash64(k, 'how'), 4) AS INT)] AS l_shipinstruct,
  array('AIR', 'FOB', 'MAIL', 'RAIL', 'REG AIR', 'SHIP', 'TRUCK')[CAST(pmod(xxhash64(k, 'mode'), 7) AS INT)] AS l_shipmode,
  concat('line ', line, ' of ', orderkey) AS l_comment
FROM lines
