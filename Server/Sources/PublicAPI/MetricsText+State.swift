import PinChanges
package import PinPublication
import ServerFoundation
package import ServerHTTP
package import ServerStore

extension MetricsText {
    /// The published state, and when the first client is locked out.
    package static func families(of snapshot: PublishedSnapshot) -> [Family] {
        let apps = snapshot.apps.values.sorted {
            "\($0.content.app)".utf8.lexicographicallyPrecedes("\($1.content.app)".utf8)
        }
        let documents = snapshot.documents.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        return [
            Family(
                "holdfast_snapshot_sequence", .gauge, "The number of what is served.",
                [Sample([], Double(snapshot.sequence))]),
            Family(
                "holdfast_app_generation", .gauge, "The generation that challenge answers are made from.",
                apps.map { Sample([("app", "\($0.content.app)")], Double($0.generation)) }),
            Family(
                "holdfast_app_end_seconds", .gauge, "The last second at which challenge answers may be signed.",
                apps.map { Sample([("app", "\($0.content.app)")], Double($0.content.end)) }),
            Family(
                "holdfast_app_can_sign", .gauge, "Whether the key of the app is open.",
                apps.map { Sample([("app", "\($0.content.app)")], $0.key == nil ? 0 : 1) }),
            Family(
                "holdfast_document_signed_seconds", .gauge, "When the document was signed.",
                documents.map { Sample([("path", $0.key)], Double($0.value.signedAt)) }),
            Family(
                "holdfast_document_end_seconds", .gauge, "The last second at which clients accept the document.",
                documents.map { Sample([("path", $0.key)], Double($0.value.end)) }),
        ]
    }

    /// The items that wait for people or need attention.
    /// - Parameters:
    ///   - ledger: the state of the audit.
    ///   - isReady: whether the server can sign.
    ///   - now: seconds since 1970.
    package static func families(of ledger: Ledger, isReady: Bool, at now: Int64) -> [Family] {
        // A counter must not decrease, so this also counts alerts that are no longer kept.
        let alarms = ledger.keyAlarms.counts
        var oldest: [AppName: Int64] = [:]
        for (_, proposal) in ledger.openChanges(at: now) where oldest[proposal.app] == nil {
            oldest[proposal.app] = proposal.time
        }
        // Prometheus computes a rate only from a first value of 0, so each app has a sample.
        let apps = ledger.appNames
        return [
            Family(
                "holdfast_ready", .gauge, "Whether the server can sign.", [Sample([], isReady ? 1 : 0)]),
            Family(
                "holdfast_alarms_total", .counter, "Keys that hosts presented and that were not announced.",
                apps.map { Sample([("app", "\($0)")], Double(alarms[$0] ?? 0)) }),
            Family(
                "holdfast_canary_held", .gauge,
                "Whether clients refuse the documents of the canary, so that its change waits.",
                apps.map { Sample([("app", "\($0)")], ledger.canaries[$0]?.probes.heldSince == nil ? 0 : 1) }),
            Family(
                "holdfast_open_change_seconds", .gauge, "When the oldest change that waits for people was proposed.",
                apps.compactMap { app in oldest[app].map { Sample([("app", "\(app)")], Double($0)) } }),
            Family(
                "holdfast_backup_seconds", .gauge, "When the last backup was written; 0 for never.",
                [Sample([], Double(ledger.latestBackup ?? 0))]),
        ]
    }

    /// The status of apps: their alerts and deadlines.
    /// - Parameter now: seconds since 1970.
    package static func families(of standings: [Publisher.Standing], at now: Int64) -> [Family] {
        func samples(_ value: (Publisher.Standing) -> Int64?) -> [Sample] {
            standings.compactMap { standing in
                value(standing).map { Sample([("app", "\(standing.app)")], Double($0)) }
            }
        }
        let alerts = standings.flatMap { standing in
            let all = standing.alerts(at: now)
            return Publisher.StandingAlert.Kind.allCases.map { kind in
                Sample(
                    [("app", "\(standing.app)"), ("kind", kind.rawValue)], Double(all.count { $0.kind == kind }))
            }
        }
        return [
            Family(
                "holdfast_app_alerts", .gauge, "Alerts of the app, as in the command status; 0 is good.", alerts),
            Family(
                "holdfast_first_refusal_seconds", .gauge,
                "The first second at which a client is locked out unless a change is published.",
                samples(\.refusedFrom)),
            Family(
                "holdfast_publish_until_seconds", .gauge,
                "The last second at which a publication still reaches every client before something ends.",
                samples(\.deadline?.lastSafe)),
        ]
    }

    /// Whether the disk was full, or has too little space for the reserve.
    package static func families(of reserve: DiskReserve?) -> [Family] {
        guard let reserve else { return [] }
        return [
            Family(
                "holdfast_disk_reserve_missing", .gauge, "Whether no space is held back for a full disk.",
                [Sample([], reserve.isMissing ? 1 : 0)])
        ]
    }

    /// The progress of deliveries to destinations other than the folder.
    package static func families(of places: [PlaceStanding]) -> [Family] {
        func samples(_ value: (PlaceStanding) -> Int64?) -> [Sample] {
            places.compactMap { place in
                value(place).map { Sample([("app", "\(place.app)"), ("place", place.name)], Double($0)) }
            }
        }
        return [
            Family(
                "holdfast_place_waiting", .gauge, "Documents that are not confirmed at a destination yet.",
                samples(\.waiting)),
            Family(
                "holdfast_place_failures", .gauge, "Failed attempts of pending deliveries to a destination.",
                samples(\.failures)),
            Family(
                "holdfast_place_lag_seconds", .gauge,
                "Seconds for which a destination has lacked a published document.", samples(\.lag)),
            Family(
                "holdfast_place_delivered_seconds", .gauge,
                "When a document was last confirmed at a destination.",
                samples(\.delivered)),
        ]
    }

    /// The notices that the server sent, by target.
    package static func families(of notices: NoticeCounters) -> [Family] {
        let counts = notices.counts.sorted { $0.key < $1.key }
        func samples(_ value: (NoticeCounters.Counts) -> Int) -> [Sample] {
            counts.map { Sample([("to", $0.key)], Double(value($0.value))) }
        }
        return [
            Family("holdfast_notices_waiting", .gauge, "Notices that wait for a target.", samples(\.waiting)),
            Family("holdfast_notices_total", .counter, "Notices that a target accepted.", samples(\.delivered)),
            Family(
                "holdfast_notice_failures_total", .counter, "Attempts that a target did not accept.",
                samples(\.failures)),
        ]
    }
}
