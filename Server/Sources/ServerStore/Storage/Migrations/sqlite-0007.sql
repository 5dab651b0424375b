-- What clients report. Anybody can forge it, so it is in no audit; only whether an app takes reports is.
-- The tables of the first version were never written.
DROP TABLE report_count;
DROP TABLE report_sample;

-- Whether an app takes reports: canonical JSON. Its digest is in the audit.
CREATE TABLE report_setting (
    app TEXT NOT NULL PRIMARY KEY REFERENCES app (name),
    octets BLOB NOT NULL
) STRICT;

-- Reports by what they have in common, an hour each; '-' for what a report does not say, or what too many say differently.
CREATE TABLE report_count (
    app TEXT NOT NULL REFERENCES app (name),
    audience TEXT NOT NULL CHECK (audience IN ('everybody', 'canary')),
    host TEXT NOT NULL CHECK (length(host) BETWEEN 1 AND 261),
    code TEXT NOT NULL CHECK (code IN ('ok', 'pins', 'expired', 'chain', 'candidate', 'other')),
    platform TEXT NOT NULL CHECK (length(platform) BETWEEN 1 AND 16),
    app_version TEXT NOT NULL CHECK (length(app_version) BETWEEN 1 AND 32),
    document_version TEXT NOT NULL CHECK (length(document_version) BETWEEN 1 AND 32),
    -- Since 1970.
    hour INTEGER NOT NULL CHECK (hour >= 0),
    -- Reports.
    count INTEGER NOT NULL CHECK (count >= 0),
    -- Those of them that rates are made of.
    rated INTEGER NOT NULL CHECK (rated BETWEEN 0 AND count),
    -- What these stand for, as far as they say how they were sampled: the sum of their weights, and that of their squares.
    scaled INTEGER NOT NULL CHECK (scaled >= 0),
    squares INTEGER NOT NULL CHECK (squares >= 0),
    PRIMARY KEY (app, audience, host, code, platform, app_version, document_version, hour)
) STRICT;
CREATE INDEX report_count_hour ON report_count (app, hour);

-- A few reports with their chains, without anything that tells one client from another.
CREATE TABLE report_sample (
    id INTEGER PRIMARY KEY,
    app TEXT NOT NULL REFERENCES app (name),
    audience TEXT NOT NULL CHECK (audience IN ('everybody', 'canary')),
    host TEXT NOT NULL CHECK (length(host) BETWEEN 1 AND 261),
    code TEXT NOT NULL CHECK (code IN ('ok', 'pins', 'expired', 'chain', 'candidate', 'other')),
    -- The SHA-256 of the certificate that the server showed as its own.
    certificate BLOB NOT NULL CHECK (length(certificate) = 32),
    received_at INTEGER NOT NULL,
    octets BLOB NOT NULL
) STRICT;
CREATE INDEX report_sample_of_app ON report_sample (app, received_at);
