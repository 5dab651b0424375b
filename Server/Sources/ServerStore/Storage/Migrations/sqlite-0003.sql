-- What is being prepared for the repository of an app: canonical JSON. Its digest is in the audit.
CREATE TABLE repository_draft (
    app TEXT NOT NULL PRIMARY KEY REFERENCES app (name),
    octets BLOB NOT NULL
) STRICT;
