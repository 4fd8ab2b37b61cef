WITH drawn AS (
  SELECT
    id,
    pmod(xxhash64(id, 'pickup'), 5184000) AS pickup,
    round(0.3 + 19.7 * pow(pmod(xxhash64(id, 'distance'), 10000) / 10000D, 3), 2) AS trip_distance,
    pmod(xxhash64(id, 'pace'), 240) AS pace,
    array(10001, 10003, 10011, 10012, 10016, 10019, 10021, 10023, 10028, 10110, 10119, 10153, 11371) AS zips
  FROM range(2000)
)
SELECT
  timestamp_seconds(1451606400 + pickup) AS tpep_pickup_datetime,
  timestamp_seconds(1451606400 + pickup + CAST(180 + trip_distance * (120 + pace) AS BIGINT)) AS tpep_dropoff_datetime,
  trip_distance,
  round(2.5 + 2.5 * trip_distance + pmod(xxhash64(id, 'waiting'), 9) * 0.5D, 1) AS fare_amount,
  zips[CAST(pmod(xxhash64(id, 'from'), 13) AS INT)] AS pickup_zip,
  zips[CAST(pmod(xxhash64(id, 'to'), 13) AS INT)] AS dropoff_zip
FROM drawn
