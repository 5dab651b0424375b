-- Where documents of an app go besides the folder: canonical JSON. Its digest is in the audit.
CREATE TABLE place (
    app TEXT NOT NULL REFERENCES app (name),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 32),
    octets BLOB NOT NULL,
    PRIMARY KEY (app, name)
) STRICT;
