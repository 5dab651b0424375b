import Holdfast

/// A certificate that clients say a host showed them, and that the watcher never saw: of a machine in the middle, or of a
/// server that nobody listed.
public struct ReportedStranger: Sendable, Hashable {
    /// The label of the host.
    public let host: String
    /// The SHA-256 of the certificate.
    public let certificate: Digest
    /// Whether its key was seen or announced before, so that it is a certificate of somebody who has that key.
    public let hasKnownKey: Bool
    /// When it was reported last, in seconds since 1970.
    public let lastReported: Int64

    /// One sentence for people.
    public var words: String {
        let whose =
            hasKnownKey
            ? "its key is known, so it is a server that nobody listed"
            : "a machine in the middle, or a server that nobody listed"
        return "clients report the certificate \(certificate) at \(host), which the watcher never saw: \(whose)"
    }
}

extension Catalog {
    /// How many are looked at.
    private static let greatestStrangers: Int64 = 64

    static func reportedStrangers(
        of app: AppName, since time: Int64, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> [ReportedStranger] {
        let samples = try reportSamples(of: app, since: time, limit: greatestStrangers, session)
        guard !samples.isEmpty else { return [] }
        let published = try ledger.publication(of: app).map { publication throws(ServerError) in
            try content(of: publication, app, session).hosts
        }
        let hosts = try Self.hosts(of: app, session, ledger)
        var known: [String: Set<Digest>] = [:]
        var strangers: [ReportedStranger] = []
        var said: Set<[String]> = []
        for sample in samples {
            if known[sample.host] == nil {
                var certificates = Set(
                    (published ?? []).filter { "\($0.name):\($0.port)".utf8.elementsEqual(sample.host.utf8) }
                        .flatMap { $0.certificates.map(\.fingerprint) })
                // What a pattern covers is shown by any of its hosts.
                let isPattern = sample.host.utf8.first == UInt8(ascii: "*")
                for (id, host) in hosts where isPattern || host.label.utf8.elementsEqual(sample.host.utf8) {
                    certificates.formUnion(try shownCertificates(id, session))
                    certificates.formUnion(
                        try next(id, host, app, session, ledger).chains.map(\.chain.fingerprint))
                }
                known[sample.host] = certificates
            }
            guard known[sample.host]?.contains(sample.certificate) == false,
                said.insert([sample.host, "\(sample.certificate)"]).inserted
            else { continue }
            strangers.append(
                ReportedStranger(
                    host: sample.host, certificate: sample.certificate,
                    hasKnownKey: try isKnown(sample.key, session), lastReported: sample.received))
        }
        return strangers
    }

    /// Everything that the watcher saw as a host's own certificate.
    private static func shownCertificates(
        _ id: Int64, _ session: any StorageSession
    ) throws(ServerError) -> [Digest] {
        try session.run(
            """
            SELECT DISTINCT certificates FROM observation JOIN chain ON chain.digest = observation.chain_digest \
            WHERE host_id = $1 LIMIT 1000
            """, [.integer(id)]
        ).map { row throws(ServerError) in try HostChain(octets: try row.octets(0)).fingerprint }
    }

    private static func isKnown(_ key: Digest?, _ session: any StorageSession) throws(ServerError) -> Bool {
        guard let key else { return false }
        return try !session.run("SELECT 1 FROM public_key WHERE pin = $1", [.octets(key.octets)]).isEmpty
    }
}
