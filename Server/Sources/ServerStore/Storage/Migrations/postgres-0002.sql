-- What the catalog knows about an app's clients, and what hosts are about to show.

-- The certificate of a trust server's key, with which clients are configured; null for other purposes.
ALTER TABLE signing_key ADD COLUMN certificate BYTEA;

-- Canonical JSON; its digest is in the audit.
CREATE TABLE app_setting (
    app TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES app (name),
    octets BYTEA NOT NULL
);

-- A chain that the owner of a host announced, to be shown from a time on.
CREATE TABLE next_chain (
    host_id BIGINT NOT NULL REFERENCES host (id),
    chain_digest BYTEA NOT NULL REFERENCES chain (digest),
    begins_at BIGINT NOT NULL,
    announced_at BIGINT NOT NULL,
    PRIMARY KEY (host_id, chain_digest)
);

-- Each key of a chain, and each that was announced: contents have only its SHA-256, and some documents the key.
CREATE TABLE public_key (
    pin BYTEA NOT NULL PRIMARY KEY CHECK (length(pin) = 32),
    -- DER of the SubjectPublicKeyInfo.
    octets BYTEA NOT NULL
);

-- A key that stands ready for a host: DER of the SubjectPublicKeyInfo.
CREATE TABLE next_key (
    host_id BIGINT NOT NULL REFERENCES host (id),
    pin BYTEA NOT NULL REFERENCES public_key (pin),
    announced_at BIGINT NOT NULL,
    PRIMARY KEY (host_id, pin)
);
