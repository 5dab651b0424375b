import Holdfast
package import ServerFoundation
package import ServerModel

/// Observations of hosts. Servers outside our control choose what they present, so each host has a limit for rows, for
/// the bytes of its chains, and for new chains per hour. Each ``SightingStanding`` has separate limits, so that no
/// other certificate of a host displaces the sighting of an approved or announced key.
extension Catalog {
    /// Maximum number of stored observations of a host with one standing. Each of 32 vantages has at least 64 of them.
    static let maximumObservations = 2_048
    /// Maximum total size of the chains of a host's observations with one standing, in bytes. 128 typical chains are
    /// smaller.
    package static let maximumChainBytes = 512 << 10
    /// Maximum number of chains with one standing that a host may add within an hour: 64 addresses with two kinds of
    /// key each.
    static let maximumNewChains = 128

    /// Records the observations of one probe of the host of a row. Each extends the last observation at the address if
    /// that was the same. Observations are no evidence, so the audit contains only unannounced certificates.
    /// - Parameters:
    ///   - seen: the observations.
    ///   - standings: the standing of each chain, by its digest; ``SightingStanding/other`` if absent.
    /// - Returns: the chains among the observations that are stored now.
    @discardableResult
    package static func note(
        _ seen: [Observation], at id: Int64, standings: [Digest: SightingStanding] = [:],
        _ session: any StorageSession
    ) throws(ServerError) -> [CertificateChain] {
        var counts = try newChains(of: id, session)
        var noted: [CertificateChain] = []
        for observation in seen {
            guard let chain = observation.chain else {
                try write(observation, at: id, .other, session)
                continue
            }
            let standing = standings[chain.digest] ?? .other
            if try !isKnown(chain, at: id, session) {
                guard counts[standing, default: 0] < maximumNewChains else {
                    try write(observation.withoutChain, at: id, .other, session)
                    continue
                }
                counts[standing, default: 0] += 1
            }
            try store(chain, session)
            try write(observation, at: id, standing, session)
            noted.append(chain)
        }
        let dropped = try bound(id, session)
        return noted.filter { !dropped.contains($0.digest) }
    }

    /// The number of chains that a host has added within the last hour, including those no longer stored.
    private static func newChains(
        of id: Int64, _ session: any StorageSession
    ) throws(ServerError) -> [SightingStanding: Int] {
        var counts: [SightingStanding: Int] = [:]
        for row in try session.run(
            """
            SELECT standing, count(DISTINCT chain_digest) + coalesce(sum(CASE WHEN failure = $3 THEN 1 ELSE 0 END), 0) \
            FROM observation WHERE host_id = $1 AND first_seen_at > $2 GROUP BY standing
            """, [.integer(id), .integer(try session.now() - 3_600), .text(chainGone)])
        {
            guard let standing = SightingStanding(rawValue: try row.integer(0)) else { continue }
            counts[standing] = Int(try row.integer(1))
        }
        return counts
    }

    private static func isKnown(
        _ chain: CertificateChain, at id: Int64, _ session: any StorageSession
    ) throws(ServerError) -> Bool {
        try !session.run(
            "SELECT id FROM observation WHERE chain_digest = $1 AND host_id = $2 LIMIT 1",
            [.bytes(chain.digest.bytes), .integer(id)]
        ).isEmpty
    }

    private static func write(
        _ seen: Observation, at id: Int64, _ standing: SightingStanding, _ session: any StorageSession
    ) throws(ServerError) {
        let digest: StorageValue = .optional(seen.chain?.digest.bytes)
        let last = try session.run(
            """
            SELECT id, chain_digest FROM observation WHERE host_id = $1 AND vantage = $2 AND address = $3 \
            ORDER BY last_seen_at DESC, id DESC LIMIT 1
            """, [.integer(id), .text(seen.vantage), .text(seen.address)]
        ).first
        if let last, last[1] == digest {
            try session.run(
                "UPDATE observation SET last_seen_at = $2, failure = $3, standing = $4 WHERE id = $1",
                [
                    .integer(try last.integer(0)), .integer(seen.lastSeen), .optional(seen.failure),
                    .integer(standing.rawValue),
                ])
        } else {
            try session.run(
                """
                INSERT INTO observation (host_id, vantage, address, chain_digest, failure, first_seen_at, \
                last_seen_at, standing) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
                """,
                [
                    .integer(id), .text(seen.vantage), .text(seen.address), digest, .optional(seen.failure),
                    .integer(seen.firstSeen), .integer(seen.lastSeen), .integer(standing.rawValue),
                ])
        }
    }

    /// The failure text of an observation whose chain is no longer stored.
    private static let chainGone = "its chain is no longer kept, because the host presented too many"

    /// Deletes the observations of a host beyond its limits, and removes their chains.
    /// - Returns: the removed chains.
    private static func bound(_ id: Int64, _ session: any StorageSession) throws(ServerError) -> Set<Digest> {
        var all: [Int64: [ObservationBounds.Row]] = [:]
        for row in try session.run(
            """
            SELECT observation.id, chain_digest, CAST(length(certificates) AS bigint), standing, vantage, address \
            FROM observation LEFT JOIN chain ON chain.digest = observation.chain_digest WHERE host_id = $1 \
            ORDER BY last_seen_at DESC, observation.id DESC
            """, [.integer(id)])
        {
            var chain: (digest: Digest, size: Int)?
            if let digest = try row.optionalBytes(1).flatMap({ Digest(bytes: $0) }) {
                chain = (digest, Int(try row.integer(2)))
            }
            all[try row.integer(3), default: []].append(
                ObservationBounds.Row(
                    id: try row.integer(0), vantage: try row.text(4), address: try row.text(5), chain: chain))
        }
        var kept: Set<Digest> = []
        var lost: Set<Digest> = []
        for rows in all.values {
            let bounds = ObservationBounds(rows, maximumRows: maximumObservations, maximumBytes: maximumChainBytes)
            for id in bounds.deleted {
                try session.run("DELETE FROM observation WHERE id = $1", [.integer(id)])
            }
            for id in bounds.forgotten {
                try session.run(
                    "UPDATE observation SET chain_digest = NULL, failure = $2 WHERE id = $1",
                    [.integer(id), .text(chainGone)])
            }
            kept.formUnion(bounds.chains)
            lost.formUnion(bounds.lost)
        }
        let gone = lost.subtracting(kept)
        try dropUnnamed(chains: gone, session)
        return gone
    }

    // MARK: Chains and keys

    /// Stores a chain. Its keys are read from it; only keys that are announced or proposed without a chain are stored
    /// separately.
    package static func store(_ chain: CertificateChain, _ session: any StorageSession) throws(ServerError) {
        try session.run(
            "INSERT INTO chain (digest, certificates) VALUES ($1, $2) ON CONFLICT (digest) DO NOTHING",
            [.bytes(chain.digest.bytes), .bytes(chain.bytes)])
    }

    /// Deletes those of some chains that no observation and no announcement refers to.
    static func dropUnnamed(
        chains: some Sequence<Digest>, _ session: any StorageSession
    ) throws(ServerError) {
        for digest in chains {
            try session.run(
                """
                DELETE FROM chain WHERE digest = $1 \
                AND NOT EXISTS (SELECT 1 FROM observation WHERE chain_digest = $1) \
                AND NOT EXISTS (SELECT 1 FROM next_chain WHERE chain_digest = $1)
                """, [.bytes(digest.bytes)])
        }
    }

    /// Deletes every chain that no observation and no announcement refers to.
    static func dropUnnamedChains(_ session: any StorageSession) throws(ServerError) {
        try session.run(
            """
            DELETE FROM chain WHERE NOT EXISTS (SELECT 1 FROM observation WHERE chain_digest = digest) \
            AND NOT EXISTS (SELECT 1 FROM next_chain WHERE chain_digest = digest)
            """)
    }

    // MARK: Reading

    /// The latest observation of each address of a host.
    /// - Throws: ``ServerError``.
    package func observations(of host: CatalogHost, _ app: AppName) async throws(ServerError) -> [Observation] {
        try await look { session, ledger throws(ServerError) in
            try Self.observations(Self.id(of: host, app, session, ledger), session)
        }
    }

    /// The latest observations of each address of the host of a row, the newest first; each chain is read once.
    package static func observations(_ id: Int64, _ session: any StorageSession) throws(ServerError) -> [Observation] {
        var seen: [Observation] = []
        var places: Set<[String]> = []
        var chains: [Digest: CertificateChain] = [:]
        for row in try session.run(
            """
            SELECT vantage, address, chain_digest, failure, first_seen_at, last_seen_at FROM observation \
            WHERE host_id = $1 ORDER BY last_seen_at DESC, id DESC LIMIT $2
            """, [.integer(id), .integer(Int64(maximumObservations * SightingStanding.allCases.count))])
        {
            guard places.insert([try row.text(0), try row.text(1)]).inserted else { continue }
            var chain: CertificateChain?
            if let bytes = try row.optionalBytes(2), let digest = Digest(bytes: bytes) {
                if chains[digest] == nil { chains[digest] = try storedChain(digest, session) }
                chain = chains[digest]
            }
            seen.append(
                Observation(
                    vantage: try row.text(0), address: try row.text(1), chain: chain,
                    failure: try row.optionalText(3), firstSeen: try row.integer(4), lastSeen: try row.integer(5)))
        }
        return seen
    }

    private static func storedChain(
        _ digest: Digest, _ session: any StorageSession
    ) throws(ServerError) -> CertificateChain? {
        try session.run("SELECT certificates FROM chain WHERE digest = $1", [.bytes(digest.bytes)]).first.map {
            row throws(ServerError) in try CertificateChain(bytes: try row.bytes(0))
        }
    }

    package static func observation(_ row: StorageRow) throws(ServerError) -> Observation {
        Observation(
            vantage: try row.text(0), address: try row.text(1),
            chain: try row.optionalBytes(2).map { bytes throws(ServerError) in try CertificateChain(bytes: bytes) },
            failure: try row.optionalText(3), firstSeen: try row.integer(4), lastSeen: try row.integer(5))
    }
}

extension Observation {
    /// The observation without its chain.
    fileprivate var withoutChain: Observation {
        Observation(
            vantage: vantage, address: address, chain: nil,
            failure: "its chain is not kept, because the host presented too many new ones within an hour",
            firstSeen: firstSeen, lastSeen: lastSeen)
    }
}
