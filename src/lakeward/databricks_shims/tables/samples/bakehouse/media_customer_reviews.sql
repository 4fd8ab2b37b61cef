SELECT
  concat(array('Fresh and warm', 'Too sweet for me', 'The best in town', 'A long queue')[CAST(pmod(xxhash64(id, 'text'), 4) AS INT)], ', visit ', id) AS review,
  3000000 + pmod(xxhash64(id, 'franchise'), 48) AS franchiseID,
  timestamp_seconds(1714521600 + pmod(xxhash64(id, 'when'), 1468800)) AS review_date,
  CAST(id AS INT) AS new_id
FROM range(204)
