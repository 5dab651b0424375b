-- How much it says: 0 anyone can present it, 1 its leaf has an approved key, 2 clients accept it. None displaces another that
-- says more.
ALTER TABLE observation ADD COLUMN standing INTEGER NOT NULL DEFAULT 0 CHECK (standing BETWEEN 0 AND 2);
CREATE INDEX observation_of_chain ON observation (chain_digest);
CREATE INDEX observation_of_address ON observation (host_id, vantage, address, last_seen_at);
CREATE INDEX next_chain_of_chain ON next_chain (chain_digest);
-- Whether a content that was proposed names it, so that it stays.
ALTER TABLE public_key ADD COLUMN is_proposed INTEGER NOT NULL DEFAULT 0 CHECK (is_proposed IN (0, 1));

-- What hosts presented had no bound. Chains that are too large go, then all but 256 observations of a host, with a share for
-- each vantage and the newest of each address first, then every chain and key that nothing names: hosts are soon probed again.
DELETE FROM observation WHERE chain_digest IN (SELECT digest FROM chain WHERE length(certificates) > 32768);
DELETE FROM observation WHERE id IN (
    SELECT id FROM (
        SELECT id, row_number() OVER (PARTITION BY host_id ORDER BY share, last_seen_at DESC, id DESC) AS place FROM (
            SELECT id, host_id, last_seen_at, row_number() OVER (
                PARTITION BY host_id, vantage ORDER BY age, last_seen_at DESC, id DESC) AS share
            FROM (
                SELECT id, host_id, vantage, last_seen_at, row_number() OVER (
                    PARTITION BY host_id, vantage, address ORDER BY last_seen_at DESC, id DESC) AS age
                FROM observation
            ) AS aged
        ) AS shared
    ) AS ordered WHERE place > 256
);
DELETE FROM chain WHERE NOT EXISTS (SELECT 1 FROM observation WHERE chain_digest = digest)
    AND NOT EXISTS (SELECT 1 FROM next_chain WHERE chain_digest = digest);
UPDATE public_key SET is_proposed = 1 WHERE lower(hex(pin)) IN (
    SELECT json_extract(key.value, '$.pin')
    FROM (SELECT CAST(content AS TEXT) AS content FROM change) AS proposed,
        json_each(CASE WHEN json_valid(proposed.content) THEN proposed.content ELSE '{}' END, '$.hosts') AS host,
        json_each(host.value, '$.keys') AS key
    WHERE key.type = 'object'
);
DELETE FROM public_key WHERE is_proposed = 0 AND pin NOT IN (SELECT pin FROM next_key);
