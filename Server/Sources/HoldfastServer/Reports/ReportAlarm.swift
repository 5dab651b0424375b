/// Why people should look at what clients of an app report. Anybody can forge that, so it is for people alone.
struct ReportAlarm: Sendable, Hashable {
    /// What it is about.
    enum Subject: Sendable, Hashable {
        /// Connections to a host, by its label, fail.
        case failures(host: String)
        /// A host, by its label, shows certificates that the watcher never saw.
        case certificates(host: String)
        /// A canary that has this change is held.
        case canary(change: RandomID)
    }

    let app: AppName
    let subject: Subject
}

extension Catalog {
    /// Why people should look, of all apps that take reports.
    func reportAlarms() async throws(ServerError) -> Set<ReportAlarm> {
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
