-- External locations are stored and shown
SHOW EXTERNAL LOCATIONS
--= name, url, comment
-->
CREATE EXTERNAL LOCATION corpus_raw URL 's3://b/raw' WITH (STORAGE CREDENTIAL c) COMMENT 'landing'
--> ok
CREATE EXTERNAL LOCATION Corpus_RAW URL 's3://b/other' WITH (CREDENTIAL c)
--! EXTERNAL_LOCATION_ALREADY_EXISTS
CREATE EXTERNAL LOCATION IF NOT EXISTS `corpus_raw` URL 's3://b/other' WITH (CREDENTIAL c)
--> ok
create external location corpus_second url 'abfss://c@a.dfs.core.windows.net/x'
    with (storage credential `my cred`)
--> ok
SHOW EXTERNAL LOCATIONS
--> ["corpus_raw", "s3://b/raw", "landing"], ["corpus_second", "abfss://c@a.dfs.core.windows.net/x", null]
SHOW EXTERNAL LOCATIONS LIKE '*second'
--> ["corpus_second", "abfss://c@a.dfs.core.windows.net/x", null]
ALTER EXTERNAL LOCATION corpus_raw SET OWNER TO `ann@x.com`
--> ok
ALTER EXTERNAL LOCATION corpus_raw SET URL 's3://b/landing' FORCE
--> ok
ALTER EXTERNAL LOCATION corpus_raw SET STORAGE CREDENTIAL other
--> ok
COMMENT ON EXTERNAL LOCATION corpus_raw IS 'files'
--> ok
DESCRIBE EXTERNAL LOCATION `corpus_raw`
--= name, url, credential_name, owner, comment
--> ["corpus_raw", "s3://b/landing", "other", "ann@x.com", "files"]
ALTER EXTERNAL LOCATION corpus_raw RENAME TO corpus_new
--> ok
desc external location CORPUS_NEW
--> ["corpus_new", "s3://b/landing", "other", "ann@x.com", "files"]
DESCRIBE EXTERNAL LOCATION corpus_raw
--! EXTERNAL_LOCATION_DOES_NOT_EXIST
ALTER EXTERNAL LOCATION corpus_raw SET URL 's3://x'
--! EXTERNAL_LOCATION_DOES_NOT_EXIST
ALTER EXTERNAL LOCATION corpus_new RENAME TO corpus_second
--! EXTERNAL_LOCATION_ALREADY_EXISTS
GRANT CREATE TABLE, READ FILES ON EXTERNAL LOCATION `corpus_new` TO `account users`
--> ok
SHOW GRANTS ON EXTERNAL LOCATION corpus_new
--> ["account users", "CREATE TABLE", "EXTERNAL LOCATION", "corpus_new"], ["account users", "READ FILES", "EXTERNAL LOCATION", "corpus_new"]
REVOKE READ FILES ON EXTERNAL LOCATION corpus_new FROM `account users`
--> ok
SHOW GRANTS ON EXTERNAL LOCATION corpus_new
--> ["account users", "CREATE TABLE", "EXTERNAL LOCATION", "corpus_new"]
GRANT READ FILES ON EXTERNAL LOCATION corpus_raw TO u
--! EXTERNAL_LOCATION_DOES_NOT_EXIST
CREATE EXTERNAL LOCATION corpus_bad URL
--! PARSE_SYNTAX_ERROR
CREATE EXTERNAL LOCATION corpus_bad
--! PARSE_SYNTAX_ERROR
DROP EXTERNAL LOCATION corpus_new
--> ok
DROP EXTERNAL LOCATION corpus_second FORCE
--> ok
DROP EXTERNAL LOCATION IF EXISTS corpus_new
--> ok
DROP EXTERNAL LOCATION corpus_new
--! EXTERNAL_LOCATION_DOES_NOT_EXIST
-- A table of that name has a column of that name
CREATE TABLE external (location INT)
--> ok
DESCRIBE external location
--> ok
