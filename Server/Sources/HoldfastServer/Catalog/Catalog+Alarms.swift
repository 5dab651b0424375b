import Holdfast

/// Alerts about hosts in the audit. Servers that nobody here controls choose which keys they present, so alerts of a host
/// are counted, and one that says so takes the place of those that are too many.
extension Catalog {
    /// For how many seconds an alarm stays open after it was raised, and after its key was seen last, once something was
    /// published since: the key may have been among it, and gone again. It is raised again if the key is seen later.
    static let alarmSpan: Int64 = 30 * 86_400
    /// The most alerts of one kind that a host gets within an hour. A renewal shows one or two new keys.
    static let maximumAlarmsPerHour = 8
    /// What an alert names instead of a key if a host presents more new keys than get an alert each.
    static let tooManyKeys = Digest(of: Array("holdfast: more new keys of a host than get an alert each".utf8))
    /// That alert is raised again if this continues for so many seconds.
    static let tooManyKeysSpan: Int64 = 86_400

    /// Raises an alert in the audit about a key that was seen and that nobody announced: once for each, and again if that is
    /// long ago. If a host has too many of them, one alert says that instead.
    /// - Returns: the message that was recorded; nil if there is nothing new.
    /// - Throws: ``ServerError``.
    @discardableResult
    public func alarm(
        about digest: Digest, on host: CatalogHost, of app: AppName, words: String
    ) async throws(ServerError) -> String? {
        try await transact { step throws(ServerError) in
            guard let raised = step.ledger.alarmToRaise(about: digest, on: host.label, of: app, at: step.now) else {
                return nil
            }
            return try step.raise(raised, on: host, of: app, words: words)
        }
    }

    /// Whether nothing has to be written about a key that was seen.
    func hasAlarm(about digest: Digest, on host: CatalogHost, of app: AppName, at now: Int64) -> Bool {
        ledger.alarmToRaise(about: digest, on: host.label, of: app, at: now) == nil
    }

    /// Says in the audit that something has to be published soon; once for each certificate or content that ends. A host
    /// that holds a published key can show a new certificate each time, so reminders of a host are counted as well.
    func remind(
        about digest: Digest, until end: String, on host: CatalogHost, of app: AppName, words: String
    ) async throws(ServerError) {
        guard ledger.hasPlaceForReminder(about: digest, on: host.label, of: app, at: try await now()) else { return }
        try await transact { step throws(ServerError) in
            guard step.ledger.hasPlaceForReminder(about: digest, on: host.label, of: app, at: step.now) else { return }
            try step.record(
                .alarm, by: "server",
                ["app": "\(app)", "host": host.label, "digest": "\(digest)", "until": end, "words": words])
        }
    }
}

extension Catalog.Step {
    /// Records an alert about a key, or that a host has too many of them.
    /// - Returns: the message that was recorded.
    mutating func raise(
        _ digest: Digest, on host: CatalogHost, of app: AppName, words: String
    ) throws(ServerError) -> String {
        let words =
            digest == Catalog.tooManyKeys
            ? "\(host.label) presented more new keys than get an alert each; others of today get none" : words
        try record(
            .alarm, by: "watcher", ["app": "\(app)", "host": host.label, "digest": "\(digest)", "words": words])
        return words
    }
}

extension Ledger {
    /// Whether an alarm was raised, and so lately that it is not raised again.
    func hasAlarm(_ name: Name, at now: Int64) -> Bool {
        alarmedAt[name].map { $0 >= now - Catalog.alarmSpan } ?? false
    }

    /// Whether a host presented more new keys than get an alert each: then a key without an alert says nothing.
    func hasTooManyKeys(_ label: String, of app: AppName) -> Bool {
        alarmedAt[Name(app: app, name: "\(label) \(Catalog.tooManyKeys)")] != nil
    }

    /// The digest to raise an alert about.
    /// - Returns: the key, or ``Catalog/tooManyKeys``; nil if there is nothing to raise.
    func alarmToRaise(about key: Digest, on label: String, of app: AppName, at now: Int64) -> Digest? {
        guard !hasAlarm(Name(app: app, name: "\(label) \(key)"), at: now) else { return nil }
        let host = Name(app: app, name: label)
        guard !hasPlace(for: host, in: keyAlarms, at: now) else { return key }
        return tooManyToRaise(on: label, of: app, at: now)
    }

    fileprivate func hasPlaceForReminder(about digest: Digest, on label: String, of app: AppName, at now: Int64) -> Bool
    {
        remindedAt[Name(app: app, name: "\(label) \(digest)")] == nil
            && reminderMarks.count(of: Name(app: app, name: label), since: now - 3_600) < Catalog.maximumAlarmsPerHour
    }

    /// What is kept is never displaced by what a host shows: an alert of the last thirty days keeps its place.
    private func hasPlace(for host: Name, in marks: HostMarks, at now: Int64) -> Bool {
        marks.count(of: host, since: now - 3_600) < Catalog.maximumAlarmsPerHour
            && marks.count(of: host, since: now - Catalog.alarmSpan) < HostMarks.maximumPerHost - 1
    }

    private func tooManyToRaise(on label: String, of app: AppName, at now: Int64) -> Digest? {
        let raised = alarmedAt[Name(app: app, name: "\(label) \(Catalog.tooManyKeys)")]
        return raised.map { $0 >= now - Catalog.tooManyKeysSpan } ?? false ? nil : Catalog.tooManyKeys
    }
}
