-- Where documents of an app go besides the folder: canonical JSON. Its digest is in the audit.
CREATE TABLE place (
    app TEXT COLLATE "C" NOT NULL REFERENCES app (name),
    name TEXT COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 32),
    octets BYTEA NOT NULL,
    PRIMARY KEY (app, name)
);
