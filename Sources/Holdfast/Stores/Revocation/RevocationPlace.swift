public import Foundation

/// A place that a list is fetched from, and the list.
struct RevocationPlace: Sendable {
    let url: URL
    /// Whether the application named it; such a place stays.
    let isConfigured: Bool
    let authorities: RevocationAuthorities
    /// When a path named it last.
    var lastSeen: Date
    /// Whether an earlier run found it and this one has not met it yet. Its list counts, and nobody waits for it.
    var isRestored = false
    /// nil until what is stored has been read.
    var documents: DocumentStore<RevocationListFormat>?

    /// The longest URL that is fetched, in octets.
    static let maximumLength = 2_048

    /// What a place is found by; nil for what cannot be fetched. A URL in a certificate is octets of a stranger's before
    /// it is known to be short and ASCII.
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

/// The room for lists whose places certificates name: whoever signs certificates decides how many there are and how long.
final class RevocationRoom: Sendable {
    private let maximum: Int
    /// The longest list of each place.
    private let taken = Lock<[URL: Int]>([:])

    init(_ maximum: Int) { self.maximum = maximum }

    /// - Returns: whether there is room for a list of a place instead of the one that is there.
    func take(_ bytes: Int, for place: URL) -> Bool {
        taken.withLock { taken in
            let others = taken.reduce(0) { $0 + ($1.key == place ? 0 : $1.value) }
            guard others + bytes <= maximum else { return false }
            taken[place] = max(bytes, taken[place] ?? 0)
            return true
        }
    }

    func leave(_ place: URL) { taken.withLock { $0[place] = nil } }
    func leaveAll() { taken.withLock { $0 = [:] } }
}

/// What a ``RevocationStore`` has of one list.
public struct RevocationListStatus: Sendable {
    /// Where it is fetched from.
    public let url: URL
    /// Whether the configuration names it, or a certificate.
    public let isConfigured: Bool
    /// The list that was verified last; nil while there is none.
    public let list: CertificateRevocationList?
    /// Whether the list counts now: it is there, and its nextUpdate has not passed.
    public let isUsable: Bool
    /// What came of the last update; nil before the first.
    public let lastUpdate: StoreUpdateReport?
    /// When the next update is due, or after a failure the next attempt.
    public let nextUpdate: Date
}
