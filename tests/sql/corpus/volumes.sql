-- Volumes: new names, and the folders of external ones
CREATE VOLUME landing COMMENT 'files'
--> ok
ALTER VOLUME landing SET TAGS ('team' = 'a')
--> ok
ALTER VOLUME landing RENAME TO archive
--> ok
SHOW VOLUMES
--> ["corpus_volumes", "archive"]
SELECT tag_name, tag_value FROM main.information_schema.volume_tags WHERE volume_name = 'archive'
--> ["team", "a"]
ALTER VOLUME main.corpus_volumes.archive RENAME TO main.corpus_volumes.landing
--> ok
CREATE VOLUME other
--> ok
ALTER VOLUME other RENAME TO landing
--! VOLUME_ALREADY_EXISTS
ALTER VOLUME other RENAME TO main.default.other
--! UNSUPPORTED_SQL
ALTER VOLUME nope RENAME TO landing
--! VOLUME_NOT_FOUND
CREATE EXTERNAL VOLUME far LOCATION 's3://bucket/folder'
--! STORAGE_NOT_MAPPED
CREATE EXTERNAL VOLUME IF NOT EXISTS far LOCATION 'abfss://container@account.dfs.core.windows.net/'
--! STORAGE_NOT_MAPPED
SELECT count(*) FROM main.information_schema.volumes WHERE volume_name = 'far'
--> [0]
CREATE SCHEMA main.corpus_volumes_2
--> ok
CREATE VOLUME main.corpus_volumes_2.landing
--> ok
DROP SCHEMA main.corpus_volumes_2
--! SCHEMA_NOT_EMPTY
DROP DATABASE IF EXISTS main.corpus_volumes_2 CASCADE
--> ok
CREATE SCHEMA main.corpus_volumes_2
--> ok
SHOW VOLUMES IN main.corpus_volumes_2
--> 
DROP SCHEMA IDENTIFIER('main.corpus_' || 'volumes_2') RESTRICT
--> ok
DROP SCHEMA main.corpus_volumes_2
--! SCHEMA_NOT_FOUND
DROP SCHEMA IF EXISTS main.corpus_volumes_2
--> ok
