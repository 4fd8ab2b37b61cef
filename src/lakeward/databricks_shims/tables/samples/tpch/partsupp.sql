SELECT
  p.id AS ps_partkey,
  1 + pmod(p.id + s.id * 3, 10) AS ps_suppkey,
  CAST(1 + pmod(xxhash64(p.id, s.id), 9999) AS INT) AS ps_availqty,
  CAST((100 + pmod(xxhash64(p.id, s.id, 'cost'), 99900)) / 100 AS DECIMAL(18, 2)) AS ps_supplycost,
  concat('part ', p.id, ' by ', s.id) AS ps_comment
FROM range(1, 201) p CROSS JOIN range(4) s
