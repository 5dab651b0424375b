import Holdfast
import HoldfastPublishing

/// What a host shows, is about to show, and has pinned, over time.
struct HostTimeline: Sendable {
    /// A certificate, or a key that stands ready.
    struct Row: Sendable, Hashable {
        /// The digest of the certificate, or of the key.
        let digest: Digest
        let isKey: Bool
        /// When it was seen, from the first second to the last.
        var seen: ClosedRange<Int64>?
        /// When it may be shown.
        var coming: ClosedRange<Int64>?
        /// When clients accept it: since it was published, until it or the content ends.
        var pinned: ClosedRange<Int64>?
        /// At how many addresses it was seen.
        var addresses: Set<String> = []
        /// When the last client that lacks the pin is gone: nobody goes on longer without asking.
        var everybody: Int64?

        /// What it is, in words.
        var note: String {
            if isKey { return pinned == nil ? "key that stands ready" : "backup key" }
            if seen != nil { return "seen at \(QuantityText.count(Int64(addresses.count), "place"))" }
            return coming == nil ? "pinned, not seen" : "announced"
        }
    }

    /// What was published for the host.
    struct Publication: Sendable {
        /// When, in seconds since 1970.
        let published: Int64
        /// The last second at which its documents may be signed.
        let end: Int64
        /// The host's pins; nil for none.
        let pins: ContentHost?
    }

    let rows: [Row]

    /// More rows than fit on a page.
    private static let maximumRowCount = 64

    /// - Parameters:
    ///   - host: what it shows and has announced.
    ///   - publications: what was published for it, the oldest first.
    ///   - timing: for how long clients go on without asking.
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
            // A key that a certificate has is said by its certificate.
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

    /// When the last client is gone that lacks a pin that is published now; nil if nothing is.
    var everybody: Int64? { rows.compactMap(\.everybody).max() }

    /// When the publications that have something without a break began.
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
