SELECT
  id AS o_orderkey,
  1 + pmod(xxhash64(id, 'customer'), 150) AS o_custkey,
  array('F', 'O', 'P')[CAST(pmod(xxhash64(id, 'status'), 3) AS INT)] AS o_orderstatus,
  CAST((100000 + pmod(xxhash64(id, 'price'), 49900000)) / 100 AS DECIMAL(18, 2)) AS o_totalprice,
  date_add(DATE'1992-01-01', CAST(pmod(xxhash64(id, 'date'), 2405) AS INT)) AS o_orderdate,
  array('1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW')[CAST(pmod(xxhash64(id, 'priority'), 5) AS INT)] AS o_orderpriority,
  format_string('Clerk#%09d', 1 + pmod(xxhash64(id, 'clerk'), 1000)) AS o_clerk,
  0 AS o_shippriority,
  concat('order ', id) AS o_comment
FROM range(1, 1501)
