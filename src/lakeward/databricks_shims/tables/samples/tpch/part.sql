SELECT
  id AS p_partkey,
  concat(array('almond', 'blue', 'coral', 'forest', 'ivory', 'plum', 'rose')[CAST(pmod(xxhash64(id, 'colour'), 7) AS INT)], ' part ', id) AS p_name,
  concat('Manufacturer#', 1 + pmod(xxhash64(id, 'maker'), 5)) AS p_mfgr,
  concat('Brand#', 1 + pmod(xxhash64(id, 'maker'), 5), 1 + pmod(xxhash64(id, 'brand'), 5)) AS p_brand,
  concat_ws(' ', array('ECONOMY', 'LARGE', 'MEDIUM', 'PROMO', 'SMALL', 'STANDARD')[CAST(pmod(xxhash64(id, 'kind'), 6) AS INT)],
    array('ANODIZED', 'BRUSHED', 'BURNISHED', 'PLATED', 'POLISHED')[CAST(pmod(xxhash64(id, 'finish'), 5) AS INT)],
    array('BRASS', 'COPPER', 'NICKEL', 'STEEL', 'TIN')[CAST(pmod(xxhash64(id, 'metal'), 5) AS INT)]) AS p_type,
  CAST(1 + pmod(xxhash64(id, 'size'), 50) AS INT) AS p_size,
  concat_ws(' ', array('JUMBO', 'LG', 'MED', 'SM', 'WRAP')[CAST(pmod(xxhash64(id, 'pack'), 5) AS INT)],
    array('BAG', 'BOX', 'CAN', 'CASE', 'DRUM', 'JAR', 'PACK', 'PKG')[CAST(pmod(xxhash64(id, 'box'), 8) AS INT)]) AS p_container,
  CAST((90000 + pmod(xxhash64(id, 'price'), 110000)) / 100 AS DECIMAL(18, 2)) AS p_retailprice,
  concat('part ', id) AS p_comment
FROM range(1, 201)
