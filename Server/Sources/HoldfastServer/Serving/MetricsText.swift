/// What `/metrics` shows: Prometheus' text format 0.0.4.
struct MetricsText: Sendable {
    /// What a family counts.
    enum Kind: String, Sendable {
        case counter, gauge
    }

    /// One value.
    struct Sample: Sendable {
        let labels: [(name: String, value: String)]
        let value: Double

        init(_ labels: [(String, String)], _ value: Double) {
            self.labels = labels.map { (name: $0.0, value: $0.1) }
            self.value = value
        }
    }

    /// Values with one name.
    struct Family: Sendable {
        let name: String
        let kind: Kind
        let help: String
        let samples: [Sample]

        init(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
            self.name = name
            self.kind = kind
            self.help = help
            self.samples = samples
        }
    }

    static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    let families: [Family]

    /// What is published, and when the first client is refused.
    static func families(of snapshot: PublishedSnapshot) -> [Family] {
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

    /// What waits for people, and what they should look at.
    /// - Parameters:
    ///   - ledger: what the audit has.
    ///   - isReady: whether the server can sign.
    ///   - now: seconds since 1970.
    static func families(of ledger: Ledger, isReady: Bool, at now: Int64) -> [Family] {
        // A counter never falls, although old ones are no longer kept.
        let alarms = ledger.keyAlarms.counts
        var oldest: [AppName: Int64] = [:]
        for (_, proposal) in ledger.openChanges(at: now) where oldest[proposal.app] == nil {
            oldest[proposal.app] = proposal.time
        }
        // A rate has a beginning only where there was a zero, so every app has its line.
        let apps = ledger.appNames
        return [
            Family(
                "holdfast_ready", .gauge, "Whether the server can sign.", [Sample([], isReady ? 1 : 0)]),
            Family(
                "holdfast_alarms_total", .counter, "Keys that hosts showed and nobody had announced.",
                apps.map { Sample([("app", "\($0)")], Double(alarms[$0] ?? 0)) }),
            Family(
                "holdfast_canary_held", .gauge,
                "Whether clients refuse what the canary of the app has, so that its change waits.",
                apps.map { Sample([("app", "\($0)")], ledger.canaries[$0]?.probes.heldSince == nil ? 0 : 1) }),
            Family(
                "holdfast_open_change_seconds", .gauge, "When the oldest change that waits for people was proposed.",
                apps.compactMap { app in oldest[app].map { Sample([("app", "\(app)")], Double($0)) } }),
            Family(
                "holdfast_backup_seconds", .gauge, "When the last backup was written; 0 for never.",
                [Sample([], Double(ledger.latestBackup ?? 0))]),
        ]
    }

    /// How apps stand: what people have to act on, and until when.
    /// - Parameter now: seconds since 1970.
    static func families(of standings: [Publisher.Standing], at now: Int64) -> [Family] {
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
                "holdfast_app_alerts", .gauge, "What people have to act on, as status says it: none is good.", alerts),
            Family(
                "holdfast_first_refusal_seconds", .gauge,
                "The first second at which a client is refused if nobody publishes anything.", samples(\.refusedFrom)),
            Family(
                "holdfast_publish_until_seconds", .gauge,
                "The last second at which a publication still reaches every client before something ends.",
                samples(\.deadline?.lastSafe)),
        ]
    }

    /// Whether the disk was full, or has no room for what should be held back.
    static func families(of reserve: DiskReserve?) -> [Family] {
        guard let reserve else { return [] }
        return [
            Family(
                "holdfast_disk_reserve_missing", .gauge, "Whether no space is held back for a full disk.",
                [Sample([], reserve.isMissing ? 1 : 0)])
        ]
    }

    /// Where documents are on their way to places besides the folder.
    static func families(of places: [PlaceStanding]) -> [Family] {
        func samples(_ value: (PlaceStanding) -> Int64?) -> [Sample] {
            places.compactMap { place in
                value(place).map { Sample([("app", "\(place.app)"), ("place", place.name)], Double($0)) }
            }
        }
        return [
            Family(
                "holdfast_place_waiting", .gauge, "Documents that clients were not found to find in a place yet.",
                samples(\.waiting)),
            Family(
                "holdfast_place_failures", .gauge, "How often what is on its way to a place has failed.",
                samples(\.failures)),
            Family(
                "holdfast_place_lag_seconds", .gauge,
                "For how long clients were not found to find all that is published in a place.", samples(\.lag)),
            Family(
                "holdfast_place_delivered_seconds", .gauge,
                "When clients were last found to find something in a place.",
                samples(\.delivered)),
        ]
    }

    /// Whom the server told what.
    static func families(of notices: NoticeCounters) -> [Family] {
        let counts = notices.counts.sorted { $0.key < $1.key }
        func samples(_ value: (NoticeCounters.Counts) -> Int) -> [Sample] {
            counts.map { Sample([("to", $0.key)], Double(value($0.value))) }
        }
        return [
            Family("holdfast_notices_waiting", .gauge, "Notices that wait for a target.", samples(\.waiting)),
            Family("holdfast_notices_total", .counter, "Notices that a target took.", samples(\.delivered)),
            Family(
                "holdfast_notice_failures_total", .counter, "Attempts in which a target took none.",
                samples(\.failures)),
        ]
    }

    /// The text.
    var text: String {
        var text = ""
        for family in families where !family.samples.isEmpty {
            text += "# HELP \(family.name) \(family.help)\n# TYPE \(family.name) \(family.kind.rawValue)\n"
            for sample in family.samples {
                let labels = sample.labels.map { #"\#($0.name)="\#(Self.escaped($0.value))""# }
                text += family.name + (labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}")
                text += " \(Self.number(sample.value))\n"
            }
        }
        return text
    }

    private static func number(_ value: Double) -> String {
        Int64(exactly: value).map(String.init) ?? "\(value)"
    }

    private static func escaped(_ value: String) -> String {
        String(
            decoding: value.utf8.flatMap { byte -> [UInt8] in
                switch byte {
                case UInt8(ascii: "\\"), UInt8(ascii: "\""): [UInt8(ascii: "\\"), byte]
                case 0x0A: Array("\\n".utf8)
                default: [byte]
                }
            }, as: UTF8.self)
    }
}
