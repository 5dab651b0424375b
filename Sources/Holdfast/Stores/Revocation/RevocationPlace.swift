package import Foundation

/// A place from which a list of an authority is fetched, and the list.
struct RevocationPlace: Sendable {
    /// The URL and the authority: a list of another authority at the same URL does not replace it.
    struct Key: Hashable {
        let address: OctetString
        /// The ``X509Certificate/keyIdentity`` of the authority.
        let authority: OctetString

        init(_ address: OctetString, of authority: X509Certificate) {
            self.address = address
            self.authority = authority.keyIdentity
        }

        func precedes(_ other: Key) -> Bool {
            (address.octets + authority.octets).lexicographicallyPrecedes(other.address.octets + other.authority.octets)
        }
    }

    let url: URL
    /// Whether the application named it; such a place is never removed.
    let isConfigured: Bool
    let authorities: RevocationAuthorities
    /// The time at which a path last named it.
    var lastSeen: Date
    /// Whether an earlier run found it and this one has not needed it yet. Its list counts, and no caller waits for it.
    var isRestored = false
    /// The store of its lists; nil until the stored record has been read.
    var documents: DocumentStore<RevocationListFormat>?

    /// The longest URL that is fetched, in bytes.
    static let maximumLength = 2_048

    /// The key by which a place is found; nil for a URL that cannot be fetched. A URL in a certificate is untrusted
    /// bytes until its length and characters are checked.
    static func key(of octets: ArraySlice<UInt8>) -> (key: OctetString, url: URL)? {
        guard octets.count <= maximumLength, octets.allSatisfy({ (0x21...0x7E).contains($0) }),
            let url = URL(string: String(decoding: octets, as: UTF8.self)), key(of: url) != nil
        else { return nil }
        return (OctetString(octets), url)
    }

    static func key(of url: URL) -> OctetString? {
        let octets = Array(url.absoluteString.utf8)
        guard octets.count <= maximumLength, octets.allSatisfy({ $0 < 0x80 }),
            ["http", "https"].contains(url.scheme?.lowercased()), url.host(percentEncoded: true)?.isEmpty == false,
            url.user(percentEncoded: true) == nil
        else { return nil }
        return OctetString(octets[...])
    }
}

/// The memory for lists whose places certificates name. It is limited, because authorities determine how many lists
/// there are and how long they are.
final class RevocationRoom: Sendable {
    private let maximum: Int
    private let reserved = Lock<[Swift.ObjectIdentifier: Int]>([:])

    init(_ maximum: Int) { self.maximum = maximum }

    /// The share of one place, held as long as the place exists.
    final class Share: Sendable {
        private let room: RevocationRoom
        private let isGivenBack = Lock(false)

        init(of room: RevocationRoom) { self.room = room }

        deinit { room.leave(Swift.ObjectIdentifier(self)) }

        /// Releases the memory when the place is removed. A download that continues may hold the share for longer, and
        /// its result is ignored.
        func giveBack() {
            isGivenBack.withLock { isGivenBack in
                isGivenBack = true
                room.leave(Swift.ObjectIdentifier(self))
            }
        }

        /// Reserves memory for a list that exists, or has arrived.
        /// - Returns: false if it exceeds the limit.
        func take(_ bytes: Int) -> Bool { reserve(bytes, orLess: false) }

        /// Reserves memory for the growth of a list, as far as the limit allows, so that no other place can prevent its
        /// renewal.
        func grow(_ bytes: Int) {
            let most = min(2 * bytes, CertificateRevocationList.maximumBytes)
            _ = reserve(most, orLess: true)
        }

        private func reserve(_ bytes: Int, orLess: Bool) -> Bool {
            isGivenBack.withLock { $0 || room.reserve(bytes, orLess: orLess, for: Swift.ObjectIdentifier(self)) }
        }
    }

    private func reserve(_ bytes: Int, orLess: Bool, for share: Swift.ObjectIdentifier) -> Bool {
        reserved.withLock { reserved in
            let own = reserved[share] ?? 0
            let free = maximum - (reserved.values.reduce(0, +) - own)
            guard orLess || bytes <= free else { return false }
            reserved[share] = max(own, min(bytes, free))
            return true
        }
    }

    private func leave(_ share: Swift.ObjectIdentifier) { reserved.withLock { $0[share] = nil } }
}

/// The state of one list in a ``RevocationStore``.
package struct RevocationListStatus: Sendable {
    /// The URL from which it is fetched.
    package let url: URL
    /// Whether the configuration names it, not a certificate.
    package let isConfigured: Bool
    /// The newest list that counts now, otherwise the newest of all; nil if none exists.
    package let list: CertificateRevocationList?
    /// Whether the list counts now: it exists, and its nextUpdate has not passed.
    package let isUsable: Bool
    /// The result of the last update; nil before the first.
    package let lastUpdate: StoreUpdateReport?
    /// The time at which the next update is due, or after a failure the next attempt.
    package let nextUpdate: Date
}
