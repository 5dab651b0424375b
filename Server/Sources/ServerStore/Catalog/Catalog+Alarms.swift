import Holdfast
package import ServerFoundation
package import ServerModel

/// Alerts about hosts in the audit. Servers outside our control choose which keys they present, so the alerts per host
/// are limited, and one summary alert replaces those beyond the limit.
extension Catalog {
    /// The number of seconds that an alert stays open after it was raised, and after its key was last seen, once
    /// something was published since: the publication may have added the key and a later one removed it. It is raised
    /// again if the key is seen later.
    package static let alarmSpan: Int64 = 30 * 86_400
    /// Maximum number of alerts of one kind per host and hour. A renewal presents one or two new keys.
    static let maximumAlarmsPerHour = 8
    /// The digest in an alert that stands for all further keys, if a host presents more new keys than get an alert
    /// each.
    package static let tooManyKeys = Digest(of: Array("holdfast: more new keys of a host than get an alert each".utf8))
    /// The number of seconds after which that alert is raised again while the cause lasts.
    static let tooManyKeysSpan: Int64 = 86_400

    /// Raises an alert in the audit about an unannounced key that was seen: once for each key, and again after a long
    /// time. If a host has too many of them, one alert replaces the others.
    /// - Returns: the message that was recorded; nil if there is nothing new.
    /// - Throws: ``ServerError``.
    @discardableResult
    package func alarm(
        about digest: Digest, on host: CatalogHost, of app: AppName, words: String
    ) async throws(ServerError) -> String? {
        try await transact { step throws(ServerError) in
            guard let raised = step.ledger.alarmToRaise(about: digest, on: host.label, of: app, at: step.now) else {
                return nil
            }
            return try step.raise(raised, on: host, of: app, words: words)
        }
    }

    /// Whether no alert about a key needs to be written.
    package func hasAlarm(about digest: Digest, on host: CatalogHost, of app: AppName, at now: Int64) -> Bool {
        ledger.alarmToRaise(about: digest, on: host.label, of: app, at: now) == nil
    }

    /// Records in the audit that a publication is due soon; once for each certificate or content that ends. A host that
    /// holds a published key can present a new certificate each time, so reminders are limited per host as well.
    package func remind(
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
    /// Records an alert about a key, or an alert that a host has too many of them.
    /// - Returns: the message that was recorded.
    package mutating func raise(
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
    /// Whether an alert was raised so recently that it is not raised again.
    package func hasAlarm(_ name: Name, at now: Int64) -> Bool {
        alarmedAt[name].map { $0 >= now - Catalog.alarmSpan } ?? false
    }

    /// Whether a host presented more new keys than get an alert each; then a missing alert proves nothing about a key.
    package func hasTooManyKeys(_ label: String, of app: AppName) -> Bool {
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

    /// The keys that a host presents must never displace recorded alerts: an alert of the last thirty days keeps its
    /// entry.
    private func hasPlace(for host: Name, in marks: HostMarks, at now: Int64) -> Bool {
        marks.count(of: host, since: now - 3_600) < Catalog.maximumAlarmsPerHour
            && marks.count(of: host, since: now - Catalog.alarmSpan) < HostMarks.maximumPerHost - 1
    }

    private func tooManyToRaise(on label: String, of app: AppName, at now: Int64) -> Digest? {
        let raised = alarmedAt[Name(app: app, name: "\(label) \(Catalog.tooManyKeys)")]
        return raised.map { $0 >= now - Catalog.tooManyKeysSpan } ?? false ? nil : Catalog.tooManyKeys
    }
}
