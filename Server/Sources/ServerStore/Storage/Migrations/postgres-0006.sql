-- Whether a host is known to have keys of one kind only, so that it is not asked for another.
ALTER TABLE host ADD COLUMN one_key_kind BIGINT NOT NULL DEFAULT 0 CHECK (one_key_kind IN (0, 1));
