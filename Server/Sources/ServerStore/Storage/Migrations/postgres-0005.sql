-- When clients were last found to find something in a place, and since when they have not been found to find all of it;
-- null for never, and for nothing that is missing. People read it, and nothing is decided by it.
ALTER TABLE place ADD COLUMN confirmed_at BIGINT;
ALTER TABLE place ADD COLUMN behind_since BIGINT;
-- Who delivers to it, and until when nobody else does; how often that has failed since something arrived, and when it is
-- tried again.
ALTER TABLE place ADD COLUMN holder BYTEA;
ALTER TABLE place ADD COLUMN held_until BIGINT NOT NULL DEFAULT 0;
ALTER TABLE place ADD COLUMN failures BIGINT NOT NULL DEFAULT 0;
ALTER TABLE place ADD COLUMN due_at BIGINT NOT NULL DEFAULT 0;
