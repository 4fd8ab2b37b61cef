SELECT
  4000000 + id AS supplierID,
  concat('Supplier ', id) AS name,
  array('flour', 'sugar', 'butter', 'vanilla', 'cocoa', 'almonds')[CAST(pmod(xxhash64(id, 'what'), 6) AS INT)] AS ingredient,
  array('North America', 'Europe', 'Asia', 'Australia')[CAST(pmod(xxhash64(id, 'place'), 4) AS INT)] AS continent,
  array('Seattle', 'Berlin', 'Osaka', 'Perth')[CAST(pmod(xxhash64(id, 'place'), 4) AS INT)] AS city,
  array('Central', 'Harbour', 'Old Town')[CAST(pmod(xxhash64(id, 'district'), 3) AS INT)] AS district,
  array('S', 'M', 'L', 'XL', 'XXL')[CAST(pmod(xxhash64(id, 'size'), 5) AS INT)] AS size,
  round(pmod(xxhash64(id, 'longitude'), 360000) / 1000D - 180, 3) AS longitude,
  round(pmod(xxhash64(id, 'latitude'), 120000) / 1000D - 60, 3) AS latitude,
  array('Y', 'N')[CAST(pmod(xxhash64(id, 'approved'), 2) AS INT)] AS approved
FROM range(27)
