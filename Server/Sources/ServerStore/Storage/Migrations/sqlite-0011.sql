-- The person or token that announced a chain or a key, for approvers; null if it was announced before.
ALTER TABLE next_chain ADD COLUMN announced_by TEXT CHECK (length(announced_by) BETWEEN 1 AND 1024);
ALTER TABLE next_key ADD COLUMN announced_by TEXT CHECK (length(announced_by) BETWEEN 1 AND 1024);
