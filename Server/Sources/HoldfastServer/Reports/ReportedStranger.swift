import Holdfast

/// A certificate that clients say a host showed them, and that the watcher never saw: of a machine in the middle, or of a
/// server that nobody listed.
public struct ReportedStranger: Sendable, Hashable {
    /// The label of the host.
    public let host: String
    /// The SHA-256 of the certificate.
    public let certificate: Digest
    /// Whether the host was seen with its key, or it was announced or published: then it is of somebody who has that key. A
    /// key that raised an alarm is none of these.
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
    private static let maximumStrangers: Int64 = 64

    static func reportedStrangers(
        of app: AppName, since time: Int64, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> [ReportedStranger] {
        let samples = try reportSamples(of: app, since: time, limit: maximumStrangers, session)
        guard !samples.isEmpty else { return [] }
        let published = try ledger.publication(of: app).map { publication throws(ServerError) in
            try content(of: publication, app, session).hosts
        }
        let hosts = try Self.hosts(of: app, session, ledger)
        var known: [String: Known] = [:]
        var strangers: [ReportedStranger] = []
        var said: Set<[String]> = []
        for sample in samples {
            if known[sample.host] == nil {
                let labeled = (published ?? []).filter { "\($0.name):\($0.port)".utf8.elementsEqual(sample.host.utf8) }
                var found = Known()
                found.certificates = Set(labeled.flatMap { $0.certificates.map(\.fingerprint) })
                found.keys = Set(labeled.flatMap { $0.keys.filter { $0.role == .leaf }.map(\.pin) })
                // What a pattern covers is shown by any of its hosts.
                let isPattern = sample.host.utf8.first == UInt8(ascii: "*")
                for (id, host) in hosts where isPattern || host.label.utf8.elementsEqual(sample.host.utf8) {
                    for chain in try shownChains(id, session) {
                        found.add(chain) { key in
                            ledger.alarmedAt[Ledger.Name(app: app, name: "\(host.label) \(key)")] == nil
                                && !ledger.hasTooManyKeys(host.label, of: app)
                        }
                    }
                    let announced = try next(id, host, app, session, ledger)
                    for next in announced.chains { found.add(next.chain) }
                    found.keys.formUnion(announced.keys.map { Digest(of: $0) })
                }
                known[sample.host] = found
            }
            guard let found = known[sample.host], !found.certificates.contains(sample.certificate),
                said.insert([sample.host, "\(sample.certificate)"]).inserted
            else { continue }
            strangers.append(
                ReportedStranger(
                    host: sample.host, certificate: sample.certificate,
                    hasKnownKey: sample.key.map { found.keys.contains($0) } ?? false, lastReported: sample.received))
        }
        return strangers
    }

    /// What a host is known by.
    private struct Known {
        var certificates: Set<Digest> = []
        /// Of its own certificates.
        var keys: Set<Digest> = []

        mutating func add(_ chain: CertificateChain, isOwn: (Digest) -> Bool = { _ in true }) {
            certificates.insert(chain.fingerprint)
            guard let leaf = chain.leaf else { return }
            let key = Digest(of: leaf.subjectPublicKeyInfo)
            if isOwn(key) { keys.insert(key) }
        }
    }

    /// Everything that the watcher saw as a host's own certificate.
    private static func shownChains(_ id: Int64, _ session: any StorageSession) throws(ServerError)
        -> [CertificateChain]
    {
        try session.run(
            """
            SELECT DISTINCT certificates FROM observation JOIN chain ON chain.digest = observation.chain_digest \
            WHERE host_id = $1 LIMIT 1000
            """, [.integer(id)]
        ).map { row throws(ServerError) in try CertificateChain(bytes: try row.bytes(0)) }
    }
}
