import struct Foundation.Date

/// Whether the leaf of a server must have been submitted to transparency logs (RFC 6962), so that the owner of the name
/// could have seen it. A certificate that an authority issued by mistake then does not stay secret.
///
/// ```swift
/// let logs = try TransparencyLogList(verifying: json, signature: signature, key: key)
/// let validator = PathValidator(
///     anchors: anchors, transparency: .required(logs, exempting: ourOwnAuthorities))
/// ```
/// Only timestamps that are embedded in the leaf count. Holdfast does not see those that a server sends in the
/// handshake (the TLS extension) or in an OCSP response: TLS libraries for Swift do not expose them, and nearly every
/// authority embeds its timestamps.
///
/// A leaf that is valid for at most 180 days, including both ends, must have two timestamps, and one that is valid for
/// longer must have three. They must come from distinct logs, which at least two operators ran at the time, and at
/// least one log must be qualified, usable or read-only now. A timestamp that a log signed after it was retired does
/// not count. Timestamps of pending and rejected logs never count.
///
/// No timestamps are required of clients, for purposes other than ``ValidationPurpose/server(identity:)``, of a leaf
/// that is an anchor itself, or if pins alone decide.
public struct Transparency: Sendable {
    private let source: (any TransparencyLogSource)?
    /// Anchors below which no timestamps are required.
    package let exempt: TrustAnchors
    /// The maximum age of the list. If it is older, timestamps are no longer required, and every decision has a notice
    /// about that, `transparencyNotEnforced`.
    package let maximumAge: Duration
    /// Whether one timestamp must come from a log that is not tiled.
    package let requiresUntiledLog: Bool

    /// The age at which a list of the public web is considered abandoned.
    public static let usualMaximumAge: Duration = .seconds(70 * 86_400)

    /// Timestamps are not required.
    public static let none = Transparency(
        source: nil, exempt: TrustAnchors([]), maximumAge: usualMaximumAge, requiresUntiledLog: false)

    /// Leaves must have timestamps.
    /// - Parameters:
    ///   - logs: the logs that count.
    ///   - exempt: private anchors, such as those of a company, whose certificates are not logged.
    ///   - maximumAge: the maximum age of the list; ``usualMaximumAge`` by default.
    ///   - requiresUntiledLog: whether one timestamp must come from a log that is not tiled.
    public static func required(
        _ logs: any TransparencyLogSource, exempting exempt: TrustAnchors = TrustAnchors([]),
        maximumAge: Duration = usualMaximumAge, requiresUntiledLog: Bool = false
    ) -> Transparency {
        Transparency(source: logs, exempt: exempt, maximumAge: maximumAge, requiresUntiledLog: requiresUntiledLog)
    }

    /// Notifies the source that a decision is final.
    func noteUse() { source?.noteUse() }

    /// The requirement now; nil if timestamps are not required.
    var demand: TransparencyDemand? {
        source.map {
            TransparencyDemand(
                list: $0.current, exempt: exempt, maximumAge: maximumAge, requiresUntiledLog: requiresUntiledLog)
        }
    }
}

/// The requirements of one validation: the current list and the settings.
struct TransparencyDemand: Sendable {
    let list: TransparencyLogList
    let exempt: TrustAnchors
    let maximumAge: Duration
    let requiresUntiledLog: Bool

    /// Whether the list is recent enough to be enforced at a time.
    func isEnforced(at time: Int64) -> Bool {
        time < .max && Double(time - list.issuedAt.wholeSeconds) <= maximumAge.inSeconds
    }

    /// A digest that is equal if the requirements are the same.
    var digest: [UInt8] {
        SHA256Digest.of(list.digest + exempt.digest + Array("\(maximumAge) \(requiresUntiledLog)".utf8))
    }

    /// The notice for a path if the list is too old; nil if it is recent enough, or not needed.
    func notice(about path: ValidatedPath, at time: Int64) -> TrustFailure? {
        guard !isEnforced(at: time), path.certificates.count > 1, let anchor = path.anchor, !exempt.contains(anchor)
        else { return nil }
        return TrustFailure(
            .transparencyNotEnforced, expected: "a log list at most \(Int64(maximumAge.inSeconds / 86_400)) days old",
            found: "one of \(list.issuedAt.formatted(.iso8601))", certificate: path.leaf)
    }
}
