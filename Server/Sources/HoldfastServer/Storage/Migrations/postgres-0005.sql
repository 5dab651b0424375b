-- When clients were last found to find something in a place, and since when they have not been found to find all of it;
-- null for never, and for nothing that is missing. People read it, and nothing is decided by it.
ALTER TABLE place ADD COLUMN confirmed_at BIGINT;
ALTER TABLE place ADD COLUMN behind_since BIGINT;
