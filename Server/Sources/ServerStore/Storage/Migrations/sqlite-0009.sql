-- What reports are about may be older than they are: a summary of a day comes when the day is over.
CREATE TABLE report_count_since (
    app TEXT NOT NULL REFERENCES app (name),
    audience TEXT NOT NULL CHECK (audience IN ('everybody', 'canary')),
    host TEXT NOT NULL CHECK (length(host) BETWEEN 1 AND 261),
    code TEXT NOT NULL CHECK (code IN ('ok', 'pins', 'expired', 'chain', 'candidate', 'other')),
    platform TEXT NOT NULL CHECK (length(platform) BETWEEN 1 AND 16),
    app_version TEXT NOT NULL CHECK (length(app_version) BETWEEN 1 AND 32),
    document_version TEXT NOT NULL CHECK (length(document_version) BETWEEN 1 AND 32),
    -- In which they came, since 1970.
    hour INTEGER NOT NULL CHECK (hour >= 0),
    -- From which on they are about something.
    since INTEGER NOT NULL CHECK (since BETWEEN 0 AND hour),
    count INTEGER NOT NULL CHECK (count >= 0),
    rated INTEGER NOT NULL CHECK (rated BETWEEN 0 AND count),
    scaled INTEGER NOT NULL CHECK (scaled >= 0),
    squares INTEGER NOT NULL CHECK (squares >= 0),
    PRIMARY KEY (app, audience, host, code, platform, app_version, document_version, hour, since)
) STRICT;
-- Nobody wrote down what those are about that came before: the hour in which they came, as they counted then.
INSERT INTO report_count_since
    SELECT app, audience, host, code, platform, app_version, document_version, hour, hour, count, rated, scaled, squares
    FROM report_count;
DROP TABLE report_count;
ALTER TABLE report_count_since RENAME TO report_count;
CREATE INDEX report_count_hour ON report_count (app, hour);
