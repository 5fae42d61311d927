-- The index of one patient's notes; one of another version is made again.
DROP TABLE IF EXISTS words;
DROP TABLE IF EXISTS sentence;
DROP TABLE IF EXISTS chunk;
DROP TABLE IF EXISTS note;

CREATE TABLE note (
    id TEXT PRIMARY KEY, digest TEXT NOT NULL, indexed TEXT NOT NULL, embedder TEXT NOT NULL
) STRICT;

CREATE TABLE chunk (
    number INTEGER PRIMARY KEY,
    note   TEXT NOT NULL REFERENCES note (id),
    part   INTEGER NOT NULL,
    text   TEXT NOT NULL
) STRICT;
CREATE INDEX chunk_of_note ON chunk (note, part);

CREATE TABLE sentence (
    chunk INTEGER NOT NULL REFERENCES chunk (number), vector BLOB NOT NULL
) STRICT;
CREATE INDEX sentence_of_chunk ON sentence (chunk);

CREATE VIRTUAL TABLE words USING fts5 (
    text, content = 'chunk', content_rowid = 'number',
    tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TRIGGER chunk_is_added AFTER INSERT ON chunk
    BEGIN INSERT INTO words (rowid, text) VALUES (NEW.number, NEW.text); END;
CREATE TRIGGER chunk_is_removed AFTER DELETE ON chunk
    BEGIN INSERT INTO words (words, rowid, text) VALUES ('delete', OLD.number, OLD.text); END;
