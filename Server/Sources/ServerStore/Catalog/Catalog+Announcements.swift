import Foundation
import Holdfast
import HoldfastPublishing
package import ServerFoundation
package import ServerModel

/// Announcements by the owner of a host: chains that it is about to present, and keys that are kept as backups. Each is
/// checked here, no matter who announces it and how, since pins follow from it.
extension Catalog {
    /// Records an announced chain, which the host will present.
    /// - Parameters:
    ///   - chain: the chain.
    ///   - begins: the first second at which the host may present it, in seconds since 1970.
    ///   - host: the host.
    ///   - app: the app.
    ///   - actor: the person or token that announces it, for the audit and for the approvers.
    /// - Throws: ``ServerError`` `notFound`; `invalidValue` if the chain is not for this host.
    package func announce(
        _ chain: CertificateChain, from begins: Int64, on host: CatalogHost, of app: AppName, by actor: String
    ) async throws(ServerError) {
        // Validate first: it takes too long for a transaction that others wait for.
        let anchors = try await self.app(app).settings.anchors
        try AnnouncementCheck(trusting: anchors, at: await now()).check(chain, for: host)
        try await transact { step throws(ServerError) in
            let id = try Self.id(of: host, app, step.session, step.ledger)
            try Self.makePlace(id, host, app, step) { next in next.chains.contains { $0.chain == chain } }
            try Self.store(chain, step.session)
            try step.session.run(
                """
                INSERT INTO next_chain (host_id, chain_digest, begins_at, announced_at, announced_by) \
                VALUES ($1, $2, $3, $4, $5) ON CONFLICT (host_id, chain_digest) DO UPDATE \
                SET begins_at = excluded.begins_at, announced_at = excluded.announced_at, \
                announced_by = excluded.announced_by WHERE next_chain.begins_at <> excluded.begins_at
                """,
                [
                    .integer(id), .bytes(chain.digest.bytes), .integer(begins), .integer(step.now), .text(actor),
                ])
            try Self.recordNext(id, host, app, &step, by: actor)
        }
    }

    /// Records a backup key of a host, such as that of a certificate request.
    /// - Parameters:
    ///   - key: DER of the SubjectPublicKeyInfo.
    ///   - host: the host.
    ///   - actor: the person or token that announces it, for the audit and for the approvers.
    ///   - actor: who announced it, for the audit and for those who approve.
    /// - Throws: ``ServerError`` `notFound`; `invalidValue` if clients refuse such a key.
    package func announce(
        key: [UInt8], on host: CatalogHost, of app: AppName, by actor: String
    ) async throws(ServerError) {
        try AnnouncementCheck.check(key: key)
        try await transact { step throws(ServerError) in
            let id = try Self.id(of: host, app, step.session, step.ledger)
            try Self.makePlace(id, host, app, step) { $0.keys.contains(key) }
            try Self.store(key: key, step.session)
            try step.session.run(
                """
                INSERT INTO next_key (host_id, pin, announced_at, announced_by) VALUES ($1, $2, $3, $4) \
                ON CONFLICT (host_id, pin) DO NOTHING
                """, [.integer(id), .bytes(Digest(of: key).bytes), .integer(step.now), .text(actor)])
            try Self.recordNext(id, host, app, &step, by: actor)
        }
    }

    /// Maximum number of announcements of a host. All of them are read in each round and included in each draft.
    private static let maximumNextCount = 64

    /// Makes room for an announcement by removing those whose certificate has expired, or throws if the host has too
    /// many.
    /// - Parameter isKnown: whether the announcement exists already, so that nothing is added.
    private static func makePlace(
        _ id: Int64, _ host: CatalogHost, _ app: AppName, _ step: Step, isKnown: (AnnouncedCertificates) -> Bool
    ) throws(ServerError) {
        let next = try Self.next(id, host, app, step.session, step.ledger)
        guard next.count >= maximumNextCount, !isKnown(next) else { return }
        let lasting = next.lasting(at: step.now)
        guard lasting.count < maximumNextCount else {
            throw ServerError(
                .constraint, of: host.label, expected: "less than \(maximumNextCount) announcements for a host",
                found: "\(lasting.count)",
                remedy: "Withdraw all of it, and announce what is right: "
                    + "`holdfast-server next withdraw \(app) \(host.label) --data DIR`.")
        }
        for chain in next.chains where !lasting.chains.contains(chain) {
            try delete(chain.chain, id, step.session)
        }
    }

    /// Withdraws all announcements of a host.
    /// - Throws: ``ServerError`` `notFound`.
    package func withdrawNext(on host: CatalogHost, of app: AppName, by actor: String) async throws(ServerError) {
        try await transact { step throws(ServerError) in
            let id = try Self.id(of: host, app, step.session, step.ledger)
            let next = try Self.next(id, host, app, step.session, step.ledger)
            try step.session.run("DELETE FROM next_chain WHERE host_id = $1", [.integer(id)])
            try step.session.run("DELETE FROM next_key WHERE host_id = $1", [.integer(id)])
            try Self.dropUnnamed(chains: next.chains.map(\.chain.digest), step.session)
            try Self.dropUnnamed(keys: next.keys.map { Digest(of: $0) }, step.session)
            try Self.recordNext(id, host, app, &step, by: actor)
        }
    }

    /// Withdraws one announcement. Published pins stay.
    /// - Parameters:
    ///   - digest: the SHA-256 of the announced certificate, of its key, or of the announced key.
    ///   - host: the host.
    ///   - app: the app.
    ///   - actor: the person or token that withdraws it, for the audit.
    /// - Throws: ``ServerError`` `notFound`, also if no announcement has the digest.
    package func withdraw(
        _ digest: Digest, on host: CatalogHost, of app: AppName, by actor: String
    ) async throws(ServerError) {
        try await transact { step throws(ServerError) in
            let id = try Self.id(of: host, app, step.session, step.ledger)
            let next = try Self.next(id, host, app, step.session, step.ledger)
            let chains = next.chains.map(\.chain).filter { chain in
                guard let leaf = chain.leaf else { return false }
                return Digest(of: leaf.der) == digest || Digest(of: leaf.subjectPublicKeyInfo) == digest
            }
            let isKey = next.keys.contains { Digest(of: $0) == digest }
            guard isKey || !chains.isEmpty else {
                throw ServerError(
                    .notFound, of: "digest", expected: "a certificate or key that was announced for \(host.label)",
                    found: "\(digest)",
                    remedy: "Take a digest that `holdfast-server host list \(app) --data DIR` shows as next.")
            }
            for chain in chains { try Self.delete(chain, id, step.session) }
            if isKey {
                try step.session.run(
                    "DELETE FROM next_key WHERE host_id = $1 AND pin = $2", [.integer(id), .bytes(digest.bytes)])
                try Self.dropUnnamed(keys: [digest], step.session)
            }
            try Self.recordNext(id, host, app, &step, by: actor)
        }
    }

    private static func delete(
        _ chain: CertificateChain, _ id: Int64, _ session: any StorageSession
    ) throws(ServerError) {
        try session.run(
            "DELETE FROM next_chain WHERE host_id = $1 AND chain_digest = $2",
            [.integer(id), .bytes(chain.digest.bytes)])
        try dropUnnamed(chains: [chain.digest], session)
    }

    /// The announcements for a host.
    /// - Throws: ``ServerError``; `brokenChain` if the rows do not match the audit.
    package func next(of host: CatalogHost, _ app: AppName) async throws(ServerError) -> AnnouncedCertificates {
        try await look { session, ledger throws(ServerError) in
            let id = try Self.id(of: host, app, session, ledger)
            return try Self.next(id, host, app, session, ledger)
        }
    }

    // MARK: Rows

    private static func nextName(of host: CatalogHost) -> String { "next \(host.label)" }

    package static func next(
        _ id: Int64, _ host: CatalogHost, _ app: AppName, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> AnnouncedCertificates {
        let next = try rows(next: id, session)
        let isNothing = next.chains.isEmpty && next.keys.isEmpty
        if !isNothing || ledger.settings[.init(app: app, name: nextName(of: host))] != nil {
            try ledger.require(app, nextName(of: host), next.bytes)
        }
        return next
    }

    private static func rows(next id: Int64, _ session: any StorageSession) throws(ServerError) -> AnnouncedCertificates
    {
        var chains: [AnnouncedCertificates.Chain] = []
        for row in try session.run(
            """
            SELECT certificates, begins_at, announced_at, announced_by FROM next_chain \
            JOIN chain ON chain.digest = next_chain.chain_digest \
            WHERE host_id = $1 ORDER BY begins_at, chain_digest
            """, [.integer(id)])
        {
            chains.append(
                AnnouncedCertificates.Chain(
                    try CertificateChain(bytes: try row.bytes(0)), from: try row.integer(1), origin: try origin(row, 2))
            )
        }
        var (keys, origins): ([[UInt8]], [Digest: AnnouncedCertificates.Origin]) = ([], [:])
        for row in try session.run(
            """
            SELECT octets, announced_at, announced_by FROM next_key \
            JOIN public_key ON public_key.pin = next_key.pin WHERE host_id = $1 ORDER BY next_key.pin
            """, [.integer(id)])
        {
            let key = try row.bytes(0)
            keys.append(key)
            origins[Digest(of: key)] = try origin(row, 1)
        }
        return AnnouncedCertificates(chains: chains, keys: keys, origins: origins)
    }

    /// The person or token that announced a row, and the time; nil for a row of a version that did not record them.
    private static func origin(_ row: StorageRow, _ column: Int) throws(ServerError) -> AnnouncedCertificates.Origin? {
        guard let actor = try row.optionalText(column + 1) else { return nil }
        return AnnouncedCertificates.Origin(actor: actor, time: try row.integer(column))
    }

    static func recordNext(
        _ id: Int64, _ host: CatalogHost, _ app: AppName, _ step: inout Step, by actor: String
    ) throws(ServerError) {
        try step.set(app, nextName(of: host), try rows(next: id, step.session).bytes, by: actor)
    }
}
