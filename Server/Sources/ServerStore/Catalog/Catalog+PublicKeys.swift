import Holdfast
package import ServerFoundation
package import ServerModel

/// Whole public keys. A content has only the SHA-256 of each, and some formats contain the key itself. Keys of
/// announcements and of proposed contents are stored; the key of a certificate is read from its chain while that is
/// stored.
extension Catalog {
    /// The number of keys that one query reads.
    private static let keysPerQuery = 16

    /// Stores a key.
    package static func store(key: [UInt8], _ session: any StorageSession) throws(ServerError) {
        try session.run(
            "INSERT INTO public_key (pin, octets) VALUES ($1, $2) ON CONFLICT (pin) DO NOTHING",
            [.bytes(Digest(of: key).bytes), .bytes(key)])
    }

    /// The stored keys with some digests.
    package static func publicKeys(
        _ pins: Set<Digest>, _ session: any StorageSession
    ) throws(ServerError) -> [Digest: [UInt8]] {
        var keys: [Digest: [UInt8]] = [:]
        var rest = Array(pins)[...]
        while let last = rest.first {
            let some = rest.prefix(keysPerQuery)
            rest = rest.dropFirst(keysPerQuery)
            // Use one query text for any number of keys: the remaining parameters repeat one of them.
            let values = some.map { StorageValue.bytes($0.bytes) }
            let padding = Array(repeating: StorageValue.bytes(last.bytes), count: keysPerQuery - some.count)
            for row in try session.run(
                """
                SELECT octets FROM public_key WHERE pin IN \
                ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
                """, values + padding)
            {
                let key = try row.bytes(0)
                keys[Digest(of: key)] = key
            }
        }
        return keys
    }

    /// Stores the whole keys of a proposed content, as far as they are known: the chain that the host presented may be
    /// gone when the content is signed again.
    package static func keepKeys(
        of content: Content, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) {
        let pins = Set(content.hosts.flatMap { $0.keys.map(\.pin) })
        let stored = try publicKeys(pins, session)
        var missing = pins.subtracting(stored.keys)
        var known = Set(stored.keys)
        if !missing.isEmpty {
            for (id, host) in try hosts(of: content.app, session, ledger) where !missing.isEmpty {
                let chains =
                    try observations(id, session).compactMap(\.chain)
                    + next(id, host, content.app, session, ledger).chains.map(\.chain)
                for key in Set(chains).flatMap(\.publicKeys) where missing.remove(Digest(of: key)) != nil {
                    try store(key: key, session)
                    known.insert(Digest(of: key))
                }
            }
        }
        for pin in known {
            try session.run(
                "UPDATE public_key SET is_proposed = 1 WHERE pin = $1 AND is_proposed = 0", [.bytes(pin.bytes)])
        }
    }

    /// Deletes those of some keys that no announcement and no content refers to.
    static func dropUnnamed(keys: some Sequence<Digest>, _ session: any StorageSession) throws(ServerError) {
        for pin in keys {
            try session.run(
                """
                DELETE FROM public_key WHERE pin = $1 AND is_proposed = 0 \
                AND NOT EXISTS (SELECT 1 FROM next_key WHERE next_key.pin = $1)
                """, [.bytes(pin.bytes)])
        }
    }
}
