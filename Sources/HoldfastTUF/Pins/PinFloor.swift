import Foundation
public import Holdfast

/// The requirements of an app for every pin file, no matter who signed it. No document can weaken them, because they
/// are compiled in.
///
/// A host that is not retired always needs two distinct pins, one of them a backup, and pins are SHA-256 hashes of
/// keys; neither rule can be switched off.
public struct PinFloor: Sendable, Hashable {
    /// Hosts for which every document must have an entry. A retired entry is enough, and so is a wider pattern.
    public var covered: [HostPattern]
    /// Hosts that a document may contain; nil for any.
    ///
    /// Whatever else a document contains, the app uses only the policies that it requests. Set a limit only if the
    /// repository will never serve other hosts: installed builds refuse a whole document if it contains any other host.
    public var allowedHosts: [HostPattern]?
    /// Hosts to which reports may go; nil for any.
    public var allowedReportHosts: [HostPattern]?
    /// The maximum time from a document's `issuedAt` to the end of its pins, grace included; 400 days by default.
    public var longestValidity: Duration
    /// Whether pinning must be enforced for the hosts of ``covered``. If so, a document is refused if it sets mode
    /// `report`, or an `onExpiry` other than `failClosed`, for one of them. Otherwise a document whose pins have
    /// already expired when it is issued could switch enforcement off.
    public var requiresEnforcement: Bool
    /// The accepted signature algorithms of the repository's metadata; by default all except RSA with PKCS #1 v1.5.
    public var signatureSchemes: Set<TUFSettings.SignatureScheme>

    /// Makes a floor.
    /// - Parameters:
    ///   - covered: hosts for which every document must have an entry.
    ///   - allowedHosts: hosts that a document may contain; nil for any.
    ///   - allowedReportHosts: hosts to which reports may go; nil for any.
    ///   - longestValidity: the maximum time from `issuedAt` to the end of the pins, grace included.
    ///   - requiresEnforcement: whether covered hosts must be enforced.
    ///   - signatureSchemes: the accepted signature algorithms of metadata.
    public init(
        covering covered: [HostPattern], allowedHosts: [HostPattern]? = nil, allowedReportHosts: [HostPattern]? = nil,
        longestValidity: Duration = .seconds(400 * 86_400), requiresEnforcement: Bool = true,
        signatureSchemes: Set<TUFSettings.SignatureScheme> = [.ed25519, .ecdsaP256, .ecdsaP384, .rsaPSS]
    ) {
        self.covered = covered
        self.allowedHosts = allowedHosts
        self.allowedReportHosts = allowedReportHosts
        self.longestValidity = longestValidity
        self.requiresEnforcement = requiresEnforcement
        self.signatureSchemes = signatureSchemes
    }

    /// Checks what this floor requires beyond the requirements for every signed pin file.
    /// - Throws: ``PinFloorError``.
    package func check(_ file: PinFile) throws(PinFloorError) {
        for required in covered {
            guard file.hosts.contains(where: { $0.pattern.covers(required) }) else {
                throw PinFloorError(
                    .hostNotCovered, expected: "an entry for \(required)", found: "none",
                    remedy: "Publish pins for the host, or retire it.")
            }
        }
        for host in file.hosts { try check(host) }
        guard let issued = file.issuedAt, let end = file.end,
            // The pins end after the last second, not at its beginning.
            end.timeIntervalSince(issued) <= longestValidity.inSeconds + 1
        else {
            throw PinFloorError(
                .validTooLong,
                expected: "pins that end within \(Self.text(longestValidity)) of issuedAt, grace included",
                found: Self.validity(of: file),
                remedy: "Publish a document with an earlier notAfter or a shorter grace.")
        }
    }

    /// The validity of a file's pins, for messages.
    private static func validity(of file: PinFile) -> String {
        guard let issued = file.issuedAt, let end = file.end else { return "none" }
        // Exclude the second that follows the last one.
        return "\(text(.seconds(end.wholeSeconds - issued.wholeSeconds - 1))), until \(end.formatted(.iso8601))"
    }

    /// In whole days if possible, because seconds are only readable for times below a day.
    private static func text(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
        return rest == 0 && duration.components.attoseconds == 0 ? "\(days) days" : "\(seconds) s"
    }

    private func check(_ host: PinFile.Host) throws(PinFloorError) {
        if let allowedHosts, !allowedHosts.contains(where: { $0.covers(host.pattern) }) {
            throw PinFloorError(
                .hostNotAllowed, expected: "hosts that the app allows", found: host.pattern.description,
                remedy: "Publish the host in a repository of its own.")
        }
        if requiresEnforcement, !host.isRetired, host.enforcement != .enforce || host.afterExpiry != .reject,
            covered.contains(where: { $0.overlaps(host.pattern) })
        {
            throw PinFloorError(
                .notEnforced, expected: "mode enforce and onExpiry failClosed for \(host.pattern)",
                found: "\(host.enforcement.rawValue) and \(host.afterExpiry.rawValue)",
                remedy: "Publish the host with mode enforce and onExpiry failClosed.")
        }
        guard let allowedReportHosts, let report = host.report else { return }
        guard let url = URL(string: report.url), let address = try? DialedHost(url: url),
            allowedReportHosts.contains(where: { $0.matches(address) })
        else {
            throw PinFloorError(
                .reportHostNotAllowed, expected: "a host for reports that the app allows",
                found: report.url.quotedAddress, remedy: "Publish the host with a report address that the app allows.")
        }
    }
}

extension HostPattern {
    /// Whether the pattern matches every host that another one matches.
    package func covers(_ other: HostPattern) -> Bool {
        if self == other { return true }
        switch other.scope {
        case .exact: return matches(other.base)
        // Only a subtree covers every host that another pattern matches.
        case .oneLabel, .subtree: return scope == .subtree && matches(other.base)
        }
    }

    /// Whether any host matches both patterns.
    package func overlaps(_ other: HostPattern) -> Bool {
        covers(other) || other.covers(self)
            // `*.example.com` and `**.a.example.com` both match `a.example.com`.
            || scope == .oneLabel && other.scope == .subtree && matches(other.base)
            || other.scope == .oneLabel && scope == .subtree && other.matches(base)
    }
}
