SELECT
  3000000 + id AS franchiseID,
  concat(array('Golden', 'Sweet', 'Crusty', 'Sunny', 'Old Town')[CAST(pmod(xxhash64(id, 'name'), 5) AS INT)], ' Bakehouse ', id) AS name,
  array('Seattle', 'Berlin', 'Osaka', 'Perth')[CAST(pmod(xxhash64(id, 'place'), 4) AS INT)] AS city,
  array('Central', 'Harbour', 'Old Town')[CAST(pmod(xxhash64(id, 'district'), 3) AS INT)] AS district,
  CAST(10000 + pmod(xxhash64(id, 'zip'), 89999) AS STRING) AS zipcode,
  array('US', 'Germany', 'Japan', 'Australia')[CAST(pmod(xxhash64(id, 'place'), 4) AS INT)] AS country,
  array('S', 'M', 'L', 'XL', 'XXL')[CAST(pmod(xxhash64(id, 'size'), 5) AS INT)] AS size,
  round(pmod(xxhash64(id, 'longitude'), 360000) / 1000D - 180, 3) AS longitude,
  round(pmod(xxhash64(id, 'latitude'), 120000) / 1000D - 60, 3) AS latitude,
  4000000 + pmod(xxhash64(id, 'supplier'), 27) AS supplierID
FROM range(48)
