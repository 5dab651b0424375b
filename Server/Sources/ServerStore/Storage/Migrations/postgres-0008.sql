-- People who use passkeys. What lasts is in the audit, and believed only where that agrees.

-- Who may make a passkey. The text is signed by approvers.
CREATE TABLE invitation (
    -- Of the token that the invited person gets.
    digest BYTEA NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    text BYTEA NOT NULL
);

CREATE TABLE invitation_approval (
    invitation BYTEA NOT NULL REFERENCES invitation (digest),
    identity BYTEA NOT NULL CHECK (length(identity) = 32),
    signature BYTEA NOT NULL,
    PRIMARY KEY (invitation, identity)
);

CREATE TABLE passkey (
    -- Digest of the SubjectPublicKeyInfo.
    identity BYTEA NOT NULL PRIMARY KEY CHECK (length(identity) = 32),
    -- By what the authenticator finds the key.
    credential BYTEA NOT NULL UNIQUE CHECK (length(credential) BETWEEN 1 AND 1023),
    -- Canonical JSON. Its digest is in the audit.
    octets BYTEA NOT NULL,
    -- How often the passkey has signed, as it says; 0 if it does not count.
    counter BIGINT NOT NULL CHECK (counter BETWEEN 0 AND 4294967295)
);

-- What visitors are asked to sign, one thing at a time. It is gone when it is answered, however that ends.
CREATE TABLE passkey_challenge (
    -- Digest of the visitor's token.
    visitor BYTEA NOT NULL PRIMARY KEY CHECK (length(visitor) = 32),
    octets BYTEA NOT NULL,
    ends_at BIGINT NOT NULL
);

CREATE TABLE session (
    -- Of the token that the browser has.
    digest BYTEA NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    passkey BYTEA NOT NULL REFERENCES passkey (identity),
    ends_at BIGINT NOT NULL
);
CREATE INDEX session_of_passkey ON session (passkey);
