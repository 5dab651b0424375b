-- How many vantages must agree on what the hosts of an app show. Its settings say so, and they alone are believed; this
-- finds whose turn it is.
ALTER TABLE app ADD COLUMN vantages BIGINT NOT NULL DEFAULT 1 CHECK (vantages BETWEEN 1 AND 8);

-- Where more than one must agree, each vantage has its own turn for a host.
CREATE TABLE host_vantage (
    host_id BIGINT NOT NULL REFERENCES host (id),
    vantage TEXT COLLATE "C" NOT NULL CHECK (length(vantage) BETWEEN 1 AND 64),
    next_poll_at BIGINT NOT NULL,
    lease_token BYTEA CHECK (length(lease_token) = 16),
    leased_until BIGINT,
    PRIMARY KEY (host_id, vantage)
);
