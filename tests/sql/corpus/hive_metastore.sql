-- The catalog of every workspace that is not created first
CREATE TABLE hive_metastore.default.corpus_t (id INT)
--> ok
CREATE SCHEMA hive_metastore.corpus_hive
--> ok
CREATE TABLE hive_metastore.corpus_hive.t AS SELECT 1 AS id
--> ok
SELECT * FROM hive_metastore.corpus_hive.t
--> [1]
CREATE SCHEMA hive_metastore.corpus_hive
--! SCHEMA_ALREADY_EXISTS
SELECT * FROM hive_metastore.nothing.t
--! TABLE_OR_VIEW_NOT_FOUND
DROP TABLE hive_metastore.default.corpus_t
--> ok
DROP SCHEMA hive_metastore.corpus_hive CASCADE
--> ok
