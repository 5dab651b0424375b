package import ServerFoundation
package import ServerStore

/// The reason for an alert about an app's client reports. Reports can be forged, so the alert only notifies people.
package struct ReportAlarm: Sendable, Hashable {
    /// The subject of the alert.
    package enum Subject: Sendable, Hashable {
        /// Connections to a host fail; the host is given by its label.
        case failures(host: String)
        /// A host presents certificates that the watcher never saw; the host is given by its label.
        case certificates(host: String)
        /// The canary with this change is held.
        case canary(change: RandomID)
    }

    package let app: AppName
    package let subject: Subject
}

extension Catalog {
    /// The alerts of all apps that take reports.
    package func reportAlarms() async throws(ServerError) -> Set<ReportAlarm> {
        try await look { session, ledger throws(ServerError) in
            var alarms: Set<ReportAlarm> = []
            for app in ledger.appNames {
                guard try Self.reportSettings(of: app, session, ledger).isEnabled else { continue }
                let standing = try Self.reportStanding(of: app, session, ledger)
                for ratio in standing.ratios where ratio.isAlarming {
                    alarms.insert(ReportAlarm(app: app, subject: .failures(host: ratio.host)))
                }
                for stranger in standing.strangers {
                    alarms.insert(ReportAlarm(app: app, subject: .certificates(host: stranger.host)))
                }
                if let canary = ledger.canaries[app],
                    try Self.canaryReports(of: app, session, ledger)?.refusals.isEmpty == false
                {
                    alarms.insert(ReportAlarm(app: app, subject: .canary(change: canary.change)))
                }
            }
            return alarms
        }
    }
}
