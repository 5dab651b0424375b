public import struct Foundation.Date

/// One pin of a requirement: the certificates of a path for which it counts, its end, and whether it is a candidate.
public struct PinRule: Hashable, Sendable {
    /// The certificates of a validated path for which a pin counts.
    public enum Place: Hashable, Sendable {
        /// Every certificate, from the server's own to the anchor.
        case anywhere
        /// The server's own.
        case leaf
        /// Every certificate above the server's own. The same key may be an intermediate on one device and a root on
        /// another.
        case issuer
        /// The certificate at a depth: 0 for the server's own, n for the n-th above it.
        case depth(Int)

        /// Whether a pin counts for the certificate at a position of a path; the leaf is 0.
        func covers(_ position: Int) -> Bool {
            switch self {
            case .anywhere: true
            case .leaf: position == 0
            case .issuer: position > 0
            case .depth(let depth): position == depth
            }
        }

        var coversLeaf: Bool { covers(0) }

        var coversIssuers: Bool {
            switch self {
            case .anywhere, .issuer: true
            case .leaf: false
            case .depth(let depth): depth > 0
            }
        }
    }

    /// The pin that a certificate must match.
    public let pin: Pin
    /// The certificates for which it counts.
    public let place: Place
    /// The first instant at which it no longer counts; `.distantFuture` if it never ends.
    public let end: Date
    /// Whether it is only reported on. A candidate never satisfies a requirement.
    public let isCandidate: Bool

    /// Makes a rule.
    /// - Parameters:
    ///   - pin: the pin that a certificate must match.
    ///   - place: the certificates for which it counts.
    ///   - end: the first instant at which it no longer counts; nil for never.
    ///   - isCandidate: whether it is only reported on.
    public init(_ pin: Pin, at place: Place = .anywhere, until end: Date? = nil, isCandidate: Bool = false) {
        self.pin = pin
        self.place = place
        self.end = end ?? .distantFuture
        self.isCandidate = isCandidate
    }

    /// Whether it counts at an instant, considering time alone.
    package func counts(at time: Date) -> Bool {
        // Written so that NaN, as the time or as the end, counts as past the end.
        time < end || end == .distantFuture
    }

    /// Whether a certificate's pin matches it where it counts. Pins are compared only here.
    func matches(_ pin: Pin, at time: Date, isCandidate: Bool = false, where covers: (Place) -> Bool) -> Bool {
        self.pin == pin && self.isCandidate == isCandidate && counts(at: time) && covers(place)
    }
}
