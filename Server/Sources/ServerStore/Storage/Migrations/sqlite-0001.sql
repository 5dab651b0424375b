-- The first tables. Times are seconds since 1970 in UTC; digests have 32 octets, ids 16.
-- Nothing in here is believed because it is here: approvals are signatures, and the audit is a chain of hashes.

CREATE TABLE app (
    name TEXT NOT NULL PRIMARY KEY CHECK (length(name) BETWEEN 2 AND 255),
    display_name TEXT NOT NULL CHECK (length(display_name) BETWEEN 1 AND 255),
    -- Raised only by a published change; 0 before the first.
    generation INTEGER NOT NULL DEFAULT 0 CHECK (generation >= 0),
    -- The change that made this generation.
    change_id BLOB CHECK (length(change_id) = 16),
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE host (
    id INTEGER PRIMARY KEY,
    app TEXT NOT NULL REFERENCES app (name),
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
    port INTEGER NOT NULL CHECK (port BETWEEN 1 AND 65535),
    -- The address to dial; null for those that the name resolves to.
    dial TEXT CHECK (length(dial) BETWEEN 1 AND 255),
    -- DER of the anchors, one after another; null for the system's.
    anchors BLOB,
    -- How its certificates are renewed.
    renewal TEXT NOT NULL CHECK (renewal IN ('announced', 'same-key', 'issuer')),
    next_poll_at INTEGER NOT NULL,
    lease_token BLOB CHECK (length(lease_token) = 16),
    leased_until INTEGER,
    UNIQUE (app, name, port)
) STRICT;
CREATE INDEX host_due ON host (next_poll_at);

-- Each chain of certificates once.
CREATE TABLE chain (
    digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    certificates BLOB NOT NULL
) STRICT;

CREATE TABLE observation (
    id INTEGER PRIMARY KEY,
    host_id INTEGER NOT NULL REFERENCES host (id),
    vantage TEXT NOT NULL,
    address TEXT NOT NULL,
    chain_digest BLOB REFERENCES chain (digest),
    failure TEXT,
    first_seen_at INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    CHECK ((chain_digest IS NULL) <> (failure IS NULL))
) STRICT;
CREATE INDEX observation_of_host ON observation (host_id, last_seen_at);

CREATE TABLE pin (
    host_id INTEGER NOT NULL REFERENCES host (id),
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    kind TEXT NOT NULL CHECK (kind IN ('key', 'certificate')),
    role TEXT NOT NULL CHECK (role IN ('leaf', 'issuer')),
    state TEXT NOT NULL CHECK (state IN ('active', 'backup', 'retiring', 'candidate')),
    expires_at INTEGER,
    -- Where it is known from: the published content, or its owner's announcement.
    source TEXT NOT NULL CHECK (source IN ('published', 'announced', 'seen')),
    PRIMARY KEY (host_id, digest, kind, role)
) STRICT;

CREATE TABLE change (
    id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    app TEXT NOT NULL REFERENCES app (name),
    state TEXT NOT NULL CHECK (state IN ('proposed', 'approved', 'published', 'rejected', 'lapsed')),
    base_generation INTEGER NOT NULL CHECK (base_generation >= 0),
    content BLOB NOT NULL,
    outlook BLOB NOT NULL,
    -- Names of gates, as in the approval; '-' for none.
    forced TEXT NOT NULL,
    -- Digest of the proposer's key; null for the watcher.
    proposer BLOB CHECK (length(proposer) = 32),
    reason TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL
) STRICT;
CREATE INDEX change_of_app ON change (app, state);

-- The signed text is all that counts; the other columns find it.
CREATE TABLE approval (
    change_id BLOB NOT NULL REFERENCES change (id),
    identity BLOB NOT NULL CHECK (length(identity) = 32),
    text BLOB NOT NULL,
    signature BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (change_id, identity, text)
) STRICT;

-- The statements of approvers, with their signatures.
CREATE TABLE approver (
    place INTEGER NOT NULL CHECK (place >= 0),
    identity BLOB NOT NULL CHECK (length(identity) = 32),
    statement BLOB NOT NULL,
    signature BLOB NOT NULL,
    PRIMARY KEY (place, identity)
) STRICT;

CREATE TABLE signing_key (
    id TEXT NOT NULL PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 64),
    app TEXT NOT NULL REFERENCES app (name),
    purpose TEXT NOT NULL,
    -- DER of the SubjectPublicKeyInfo.
    public_key BLOB NOT NULL,
    -- Which secret it is sealed with; null for a signer program.
    secret_id BLOB CHECK (length(secret_id) = 8),
    sealed BLOB,
    program TEXT,
    created_at INTEGER NOT NULL,
    ended_at INTEGER,
    CHECK ((sealed IS NULL) <> (program IS NULL)),
    CHECK ((sealed IS NULL) = (secret_id IS NULL))
) STRICT;
CREATE INDEX signing_key_of_app ON signing_key (app, purpose);

CREATE TABLE document (
    app TEXT NOT NULL REFERENCES app (name),
    format TEXT NOT NULL CHECK (length(format) BETWEEN 1 AND 255),
    version INTEGER NOT NULL CHECK (version >= 1),
    generation INTEGER NOT NULL CHECK (generation >= 1),
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    octets BLOB NOT NULL,
    signed_at INTEGER NOT NULL,
    -- The last second at which clients accept it.
    ends_at INTEGER NOT NULL,
    PRIMARY KEY (app, format, version)
) STRICT;

-- The newest version of a document that clients were found to find in a place.
CREATE TABLE delivered (
    app TEXT NOT NULL REFERENCES app (name),
    place TEXT NOT NULL CHECK (length(place) BETWEEN 1 AND 32),
    format TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    PRIMARY KEY (app, place, format)
) STRICT;

CREATE TABLE token (
    digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    name TEXT NOT NULL UNIQUE,
    app TEXT REFERENCES app (name),
    scopes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL
) STRICT;

CREATE TABLE report_count (
    app TEXT NOT NULL REFERENCES app (name),
    host TEXT NOT NULL,
    code TEXT NOT NULL,
    hour INTEGER NOT NULL,
    count INTEGER NOT NULL CHECK (count >= 0),
    PRIMARY KEY (app, host, code, hour)
) STRICT;

CREATE TABLE report_sample (
    id INTEGER PRIMARY KEY,
    app TEXT NOT NULL REFERENCES app (name),
    host TEXT NOT NULL,
    received_at INTEGER NOT NULL,
    octets BLOB NOT NULL
) STRICT;

CREATE TABLE audit (
    place INTEGER NOT NULL PRIMARY KEY CHECK (place >= 0),
    entry BLOB NOT NULL
) STRICT;
