SELECT
  id AS c_custkey,
  format_string('Customer#%09d', id) AS c_name,
  concat(pmod(xxhash64(id, 'house'), 900) + 1, ' Main Street') AS c_address,
  pmod(xxhash64(id, 'nation'), 25) AS c_nationkey,
  format_string('%02d-%03d-%03d-%04d', 10 + pmod(xxhash64(id, 'nation'), 25), pmod(xxhash64(id, 'a'), 1000),
    pmod(xxhash64(id, 'b'), 1000), pmod(xxhash64(id, 'c'), 10000)) AS c_phone,
  CAST((pmod(xxhash64(id, 'balance'), 1099999) - 99999) / 100 AS DECIMAL(18, 2)) AS c_acctbal,
  array('AUTOMOBILE', 'BUILDING', 'FURNITURE', 'HOUSEHOLD', 'MACHINERY')[CAST(pmod(xxhash64(id, 'segment'), 5) AS INT)] AS c_mktsegment,
  concat('customer ', id) AS c_comment
FROM range(1, 151)
