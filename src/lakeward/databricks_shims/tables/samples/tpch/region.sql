SELECT
  CAST(at AS BIGINT) AS r_regionkey,
  r_name,
  concat('region ', at) AS r_comment
FROM (SELECT posexplode(array('AFRICA', 'AMERICA', 'ASIA', 'EUROPE', 'MIDDLE EAST')) AS (at, r_name))
