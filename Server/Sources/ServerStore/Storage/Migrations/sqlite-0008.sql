-- People who use passkeys. What lasts is in the audit, and believed only where that agrees.

-- Who may make a passkey. The text is signed by approvers.
CREATE TABLE invitation (
    -- Of the token that the invited person gets.
    digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    text BLOB NOT NULL
) STRICT;

CREATE TABLE invitation_approval (
    invitation BLOB NOT NULL REFERENCES invitation (digest),
    identity BLOB NOT NULL CHECK (length(identity) = 32),
    signature BLOB NOT NULL,
    PRIMARY KEY (invitation, identity)
) STRICT;

CREATE TABLE passkey (
    -- Digest of the SubjectPublicKeyInfo.
    identity BLOB NOT NULL PRIMARY KEY CHECK (length(identity) = 32),
    -- By what the authenticator finds the key.
    credential BLOB NOT NULL UNIQUE CHECK (length(credential) BETWEEN 1 AND 1023),
    -- Canonical JSON. Its digest is in the audit.
    octets BLOB NOT NULL,
    -- How often the passkey has signed, as it says; 0 if it does not count.
    counter INTEGER NOT NULL CHECK (counter BETWEEN 0 AND 4294967295)
) STRICT;

-- What visitors are asked to sign, one thing at a time. It is gone when it is answered, however that ends.
CREATE TABLE passkey_challenge (
    -- Digest of the visitor's token.
    visitor BLOB NOT NULL PRIMARY KEY CHECK (length(visitor) = 32),
    octets BLOB NOT NULL,
    ends_at INTEGER NOT NULL
) STRICT;

CREATE TABLE session (
    -- Of the token that the browser has.
    digest BLOB NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    passkey BLOB NOT NULL REFERENCES passkey (identity),
    ends_at INTEGER NOT NULL
) STRICT;
CREATE INDEX session_of_passkey ON session (passkey);
