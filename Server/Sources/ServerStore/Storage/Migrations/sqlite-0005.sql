-- When clients were last found to find something in a place, and since when they have not been found to find all of it;
-- null for never, and for nothing that is missing. People read it, and nothing is decided by it.
ALTER TABLE place ADD COLUMN confirmed_at INTEGER;
ALTER TABLE place ADD COLUMN behind_since INTEGER;
-- Who delivers to it, and until when nobody else does; how often that has failed since something arrived, and when it is
-- tried again.
ALTER TABLE place ADD COLUMN holder BLOB;
ALTER TABLE place ADD COLUMN held_until INTEGER NOT NULL DEFAULT 0;
ALTER TABLE place ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE place ADD COLUMN due_at INTEGER NOT NULL DEFAULT 0;
