-- What several machines that serve from one database have to know from each other.

-- The end of the audit, signed with the server's secret. A file of one machine has no use for it.
CREATE TABLE audit_head (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    count INTEGER NOT NULL CHECK (count >= 1),
    digest BLOB NOT NULL CHECK (length(digest) = 32),
    -- Which secret has signed it.
    secret_id BLOB NOT NULL CHECK (length(secret_id) = 8),
    code BLOB NOT NULL CHECK (length(code) = 32)
) STRICT;

-- What one machine at a time does, and until when it is that one's. Nothing is decided by it.
CREATE TABLE service_lease (
    name TEXT NOT NULL PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 32),
    -- A number of a process.
    holder BLOB NOT NULL CHECK (length(holder) = 16),
    -- What people call its machine.
    machine TEXT NOT NULL CHECK (length(machine) BETWEEN 1 AND 255),
    leased_until INTEGER NOT NULL
) STRICT;

-- What people were told already, by whom it was told to.
CREATE TABLE notice_told (
    target TEXT NOT NULL CHECK (length(target) BETWEEN 1 AND 32),
    notice BLOB NOT NULL CHECK (length(notice) = 16),
    PRIMARY KEY (target, notice)
) STRICT;
