SELECT
  id AS s_suppkey,
  format_string('Supplier#%09d', id) AS s_name,
  concat(pmod(xxhash64(id, 'house'), 900) + 1, ' Dock Road') AS s_address,
  pmod(xxhash64(id, 'nation'), 25) AS s_nationkey,
  format_string('%02d-%03d-%03d-%04d', 10 + pmod(xxhash64(id, 'nation'), 25), pmod(xxhash64(id, 'a'), 1000),
    pmod(xxhash64(id, 'b'), 1000), pmod(xxhash64(id, 'c'), 10000)) AS s_phone,
  CAST((pmod(xxhash64(id, 'balance'), 1099999) - 99999) / 100 AS DECIMAL(18, 2)) AS s_acctbal,
  concat('supplier ', id) AS s_comment
FROM range(1, 11)
