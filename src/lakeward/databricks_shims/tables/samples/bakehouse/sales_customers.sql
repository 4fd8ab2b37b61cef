SELECT
  2000000 + id AS customerID,
  array('Ana', 'Ben', 'Chi', 'Dan', 'Eva', 'Femi', 'Gus', 'Hana')[CAST(pmod(xxhash64(id, 'first'), 8) AS INT)] AS first_name,
  array('Baker', 'Costa', 'Diaz', 'Kim', 'Mbeki', 'Novak', 'Sato')[CAST(pmod(xxhash64(id, 'last'), 7) AS INT)] AS last_name,
  concat('customer', id, '@example.com') AS email_address,
  format_string('+1-555-%03d-%04d', pmod(xxhash64(id, 'a'), 1000), pmod(xxhash64(id, 'b'), 10000)) AS phone_number,
  concat(pmod(xxhash64(id, 'house'), 900) + 1, ' Oven Street') AS address,
  place.city,
  place.state,
  place.country,
  place.continent,
  10000 + pmod(xxhash64(id, 'zip'), 89999) AS postal_zip_code,
  array('female', 'male')[CAST(pmod(xxhash64(id, 'gender'), 2) AS INT)] AS gender
FROM (
  SELECT id, array(
    named_struct('city', 'Seattle', 'state', 'Washington', 'country', 'USA', 'continent', 'North America'),
    named_struct('city', 'Berlin', 'state', 'Berlin', 'country', 'Germany', 'continent', 'Europe'),
    named_struct('city', 'Osaka', 'state', 'Osaka', 'country', 'Japan', 'continent', 'Asia'),
    named_struct('city', 'Perth', 'state', 'Western Australia', 'country', 'Australia', 'continent', 'Australia')
  )[CAST(pmod(xxhash64(id, 'place'), 4) AS INT)] AS place
  FROM range(300)
)
