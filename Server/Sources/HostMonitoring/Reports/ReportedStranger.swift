import Holdfast
package import ServerFoundation
import ServerModel
import ServerStore

/// A certificate that clients saw at a host and the watcher never did: of a machine in the middle, or of an unlisted
/// server.
package struct ReportedStranger: Sendable, Hashable {
    /// The label of the host.
    package let host: String
    /// The SHA-256 of the certificate.
    package let certificate: Digest
    /// Whether its key was seen at the host, announced or published; then its holder has that key. A key that raised an
    /// alert does not count as known.
    package let hasKnownKey: Bool
    /// The time of the last report, in seconds since 1970.
    package let lastReported: Int64

    /// A sentence that describes the certificate.
    var words: String {
        let whose =
            hasKnownKey
            ? "its key is known, so it is probably an unlisted server"
            : "a machine in the middle, or an unlisted server"
        return "clients report the certificate \(certificate) at \(host), which the watcher never saw: \(whose)"
    }
}

extension Catalog {
    /// Maximum number of samples examined.
    private static let maximumStrangers: Int64 = 64

    static func reportedStrangers(
        of app: AppName, since time: Int64, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> [ReportedStranger] {
        let samples = try reportSamples(of: app, since: time, limit: maximumStrangers, session)
        guard !samples.isEmpty else { return [] }
        let published = try ledger.publication(of: app).map { publication throws(ServerError) in
            try content(of: publication, app: app, in: session).hosts
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
                // Any host that a pattern covers may present these.
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

    /// The known certificates and keys of a host.
    private struct Known {
        var certificates: Set<Digest> = []
        /// The keys of leaf certificates.
        var keys: Set<Digest> = []

        mutating func add(_ chain: CertificateChain, isOwn: (Digest) -> Bool = { _ in true }) {
            certificates.insert(chain.fingerprint)
            guard let leaf = chain.leaf else { return }
            let key = Digest(of: leaf.subjectPublicKeyInfo)
            if isOwn(key) { keys.insert(key) }
        }
    }

    /// All leaf certificates that the watcher saw at a host.
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
