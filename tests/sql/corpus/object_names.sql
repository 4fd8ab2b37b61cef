-- Names that Unity Catalog refuses, for every kind of object
CREATE CATALOG `a b`
--! INVALID_NAME
CREATE SCHEMA main.`a b`
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE TABLE main.corpus_object_names.`a b` (id INT)
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE VIEW main.corpus_object_names.`a b` AS SELECT 1 AS id
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE FUNCTION main.corpus_object_names.`a b`() RETURN 1
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE VOLUME main.corpus_object_names.`a b`
--! INVALID_NAME
CREATE MATERIALIZED VIEW main.corpus_object_names.`a b` AS SELECT 1 AS id
--! INVALID_NAME
CREATE CATALOG `a.b`
--! INVALID_NAME
CREATE SCHEMA main.`a.b`
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE TABLE main.corpus_object_names.`a.b` (id INT)
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE VIEW main.corpus_object_names.`a.b` AS SELECT 1 AS id
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE FUNCTION main.corpus_object_names.`a.b`() RETURN 1
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE VOLUME main.corpus_object_names.`a.b`
--! INVALID_NAME
CREATE MATERIALIZED VIEW main.corpus_object_names.`a.b` AS SELECT 1 AS id
--! INVALID_NAME
CREATE CATALOG `a/b`
--! INVALID_NAME
CREATE SCHEMA main.`a/b`
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE TABLE main.corpus_object_names.`a/b` (id INT)
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE VIEW main.corpus_object_names.`a/b` AS SELECT 1 AS id
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE FUNCTION main.corpus_object_names.`a/b`() RETURN 1
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE VOLUME main.corpus_object_names.`a/b`
--! INVALID_NAME
CREATE MATERIALIZED VIEW main.corpus_object_names.`a/b` AS SELECT 1 AS id
--! INVALID_NAME
CREATE CATALOG `a	b`
--! INVALID_NAME
CREATE SCHEMA main.`a	b`
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE TABLE main.corpus_object_names.`a	b` (id INT)
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE VIEW main.corpus_object_names.`a	b` AS SELECT 1 AS id
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE FUNCTION main.corpus_object_names.`a	b`() RETURN 1
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE VOLUME main.corpus_object_names.`a	b`
--! INVALID_NAME
CREATE MATERIALIZED VIEW main.corpus_object_names.`a	b` AS SELECT 1 AS id
--! INVALID_NAME
CREATE CATALOG `ab`
--! INVALID_NAME
CREATE SCHEMA main.`ab`
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE TABLE main.corpus_object_names.`ab` (id INT)
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE VIEW main.corpus_object_names.`ab` AS SELECT 1 AS id
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE FUNCTION main.corpus_object_names.`ab`() RETURN 1
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE VOLUME main.corpus_object_names.`ab`
--! INVALID_NAME
CREATE MATERIALIZED VIEW main.corpus_object_names.`ab` AS SELECT 1 AS id
--! INVALID_NAME
CREATE CATALOG `nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`
--! INVALID_NAME
CREATE SCHEMA main.`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE TABLE main.corpus_object_names.`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn` (id INT)
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE VIEW main.corpus_object_names.`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn` AS SELECT 1 AS id
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE FUNCTION main.corpus_object_names.`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`() RETURN 1
--! INVALID_SCHEMA_OR_RELATION_NAME
CREATE VOLUME main.corpus_object_names.`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn`
--! INVALID_NAME
CREATE MATERIALIZED VIEW main.corpus_object_names.`nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn` AS SELECT 1 AS id
--! INVALID_NAME
