-- Names that begin with a digit need no quotes, also behind a dot
CREATE CATALOG IF NOT EXISTS 01_corpus
--> ok
CREATE SCHEMA IF NOT EXISTS 01_corpus.00_landing COMMENT 'files'
--> ok
ALTER SCHEMA 01_corpus.00_landing SET TAGS ('team' = 'a')
--> ok
DESCRIBE CATALOG 01_corpus
--> ok
CREATE VOLUME IF NOT EXISTS 01_corpus.00_landing.2024_files COMMENT 'files'
--> ok
ALTER VOLUME 01_corpus.00_landing.2024_files SET TAGS ('team' = 'a')
--> ok
SHOW VOLUMES IN 01_corpus.00_landing
--> ["00_landing", "2024_files"]
DROP VOLUME 01_corpus.00_landing.2024_files
--> ok
CREATE TABLE 01_corpus.00_landing.1t (2id INT, 3doc STRING, CONSTRAINT 4pk PRIMARY KEY (2id))
--> ok
INSERT INTO 01_corpus.00_landing.1t VALUES (1, '{"5a": {"6b": 7}}')
--> ok
SELECT 2id, 3doc:5a.6b::INT AS 7c FROM 01_corpus.00_landing.1t
--= 2id, 7c
--> [1, 7]
SELECT 1t.2id, .5 AS half, 1.5 AS more, 1e1 AS ten, 3L AS three FROM 01_corpus.00_landing.1t
--> [1, "0.5", "1.5", 10.0, 3]
CREATE FUNCTION 01_corpus.00_landing.8hide(s STRING) RETURNS STRING RETURN 'x'
--> ok
ALTER TABLE 01_corpus.00_landing.1t ALTER COLUMN 3doc SET MASK 01_corpus.00_landing.8hide
--> ok
SELECT 3doc FROM 01_corpus.00_landing.1t
--> ["x"]
ALTER TABLE 01_corpus.00_landing.1t ALTER COLUMN 3doc DROP MASK
--> ok
ALTER TABLE 01_corpus.00_landing.1t ALTER COLUMN 2id SET TAGS ('key')
--> ok
GRANT SELECT ON TABLE 01_corpus.00_landing.1t TO `readers`
--> ok
SELECT count(*) FROM 01_corpus.00_landing.1t VERSION AS OF 0
--> [0]
SELECT count(*) FROM 01_corpus.00_landing.1t@v1
--> [1]
SELECT max(version) >= 1 FROM (DESCRIBE HISTORY 01_corpus.00_landing.1t)
--> [true]
CREATE TABLE 01_corpus.00_landing.2copy SHALLOW CLONE 01_corpus.00_landing.1t
--> ok
DELETE FROM 01_corpus.00_landing.2copy WHERE 2id IN (SELECT 2id FROM 01_corpus.00_landing.1t)
--> ok
MERGE INTO 01_corpus.00_landing.2copy 3c USING 01_corpus.00_landing.1t 4u ON 3c.2id = 4u.2id WHEN NOT MATCHED THEN INSERT *
--> ok
SELECT 2id FROM 01_corpus.00_landing.2copy
--> [1]
OPTIMIZE 01_corpus.00_landing.2copy
--> ok
UPDATE 01_corpus.00_landing.2copy SET 2id = 2id + 1 WHERE 2id < 5
--> ok
CREATE VIEW 01_corpus.00_landing.9v AS SELECT 2id FROM 01_corpus.00_landing.2copy
--> ok
SELECT * FROM 01_corpus.00_landing.9v
--> [2]
SHOW CREATE TABLE 01_corpus.00_landing.1t
--> ok
DROP CATALOG 01_corpus CASCADE
--> ok
