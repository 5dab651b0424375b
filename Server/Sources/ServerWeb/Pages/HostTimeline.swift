import Holdfast
import HoldfastPublishing
import PinChanges
import ServerFoundation
import ServerModel

/// The certificates and keys that a host presents, has announced, and has pinned, over time.
struct HostTimeline: Sendable {
    /// A certificate, or a standby key.
    struct Row: Sendable, Hashable {
        /// The digest of the certificate, or of the key.
        let digest: Digest
        let isKey: Bool
        /// The time from the first observation to the last.
        var seen: ClosedRange<Int64>?
        /// The time in which the host may present it, as announced.
        var coming: ClosedRange<Int64>?
        /// The time in which clients accept it: from its publication until it or the content ends.
        var pinned: ClosedRange<Int64>?
        /// The addresses at which it was observed.
        var addresses: Set<String> = []
        /// The time at which the last client without the pin must refresh its document.
        var everybody: Int64?

        /// The description of the row.
        var note: String {
            if isKey { return pinned == nil ? "key that stands ready" : "backup key" }
            if seen != nil { return "seen at \(QuantityText.count(Int64(addresses.count), "place"))" }
            return coming == nil ? "pinned, not seen" : "announced"
        }
    }

    /// A publication with the pins of the host.
    struct Publication: Sendable {
        /// The time of the publication, in seconds since 1970.
        let published: Int64
        /// The last second at which its documents may be signed.
        let end: Int64
        /// The host's pins; nil if it has none.
        let pins: ContentHost?
    }

    let rows: [Row]

    /// Maximum number of rows on a page.
    private static let maximumRowCount = 64

    /// - Parameters:
    ///   - host: the host with its observations and announcements.
    ///   - publications: the publications for the host, oldest first.
    ///   - timing: the time for which clients use a document without a refresh.
    init(_ host: AppSnapshot.Host, publications: [Publication], timing: PublicationTiming) {
        var rows: [Row] = []
        func change(_ digest: Digest, isKey: Bool = false, _ body: (inout Row) -> Void) {
            if let place = rows.firstIndex(where: { $0.digest == digest && $0.isKey == isKey }) {
                body(&rows[place])
            } else {
                var row = Row(digest: digest, isKey: isKey)
                body(&row)
                rows.append(row)
            }
        }
        for seen in host.observations {
            guard let chain = seen.chain, seen.firstSeen <= seen.lastSeen else { continue }
            change(chain.fingerprint) { row in
                row.addresses.insert(seen.address)
                row.seen =
                    row.seen.map { Self.union($0, seen.firstSeen...seen.lastSeen) } ?? seen.firstSeen...seen.lastSeen
            }
        }
        for next in host.next.chains {
            guard let end = next.chain.end, next.begins <= end else { continue }
            change(next.chain.fingerprint) { $0.coming = next.begins...end }
        }
        for key in host.next.keys { change(Digest(of: key), isKey: true) { _ in } }
        if let last = publications.last {
            // A key of a listed certificate is represented by the row of that certificate.
            let keys = Set(
                (host.observations.compactMap(\.chain) + host.next.chains.map(\.chain)).flatMap(\.digestsOfLeaf))
            for certificate in last.pins?.certificates ?? [] where certificate.depth == 0 {
                let since = Self.since(publications) { pins in
                    pins.certificates.contains { $0.fingerprint == certificate.fingerprint }
                }
                let end = min(certificate.expires, last.end)
                change(certificate.fingerprint) { row in
                    (row.pinned, row.everybody) = (since <= end ? since...end : nil, timing.lastUse(ofReplaced: since))
                }
            }
            for key in last.pins?.keys ?? [] where key.role == .leaf && !keys.contains(key.pin) {
                let since = Self.since(publications) { pins in pins.keys.contains { $0.pin == key.pin } }
                change(key.pin, isKey: true) { row in
                    row.pinned = since <= last.end ? since...last.end : nil
                    row.everybody = timing.lastUse(ofReplaced: since)
                }
            }
        }
        self.rows = Array(rows.prefix(Self.maximumRowCount))
    }

    /// The time at which the last client without a published pin must refresh; nil if nothing is published.
    var everybody: Int64? { rows.compactMap(\.everybody).max() }

    /// The beginning of the unbroken run of latest publications that satisfy a condition.
    private static func since(_ publications: [Publication], _ has: (ContentHost) -> Bool) -> Int64 {
        var since = publications.last?.published ?? 0
        for publication in publications.reversed() {
            guard publication.pins.map(has) == true else { break }
            since = publication.published
        }
        return since
    }

    private static func union(_ one: ClosedRange<Int64>, _ other: ClosedRange<Int64>) -> ClosedRange<Int64> {
        min(one.lowerBound, other.lowerBound)...max(one.upperBound, other.upperBound)
    }
}
