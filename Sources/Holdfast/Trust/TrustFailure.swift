/// The reason why a peer was not trusted, with the facts and the remedy.
///
/// Its description is meant to be read: the reason, the chain as presented with the `sha256/…` of each key ready to
/// paste, the configured pins, the valid paths without any of the pins, and the remedy. Failures with equal codes are
/// equal.
public struct TrustFailure: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<TrustFailure>

    /// The reason.
    public let code: Code
    /// The expected and the found value, and the remedy.
    public let facts: ErrorFacts
    /// The certificate at fault, if there is one.
    public let certificate: X509Certificate?
    /// The host that was dialed, if it is known.
    public internal(set) var host: DialedHost?
    /// The chain as presented.
    public internal(set) var chain: PresentedChain?
    /// The pins that were looked for.
    public internal(set) var pins: [Pin] = []
    /// Valid paths without any of the pins.
    public internal(set) var paths: [ValidatedPath] = []
    /// The operating system's error, if it rejected the chain: on Apple's platforms a `CFError`.
    public internal(set) var underlying: (any Error)?
    /// The result for each timestamp of the leaf, if too few of them count.
    package internal(set) var timestamps: [TimestampFinding] = []
    /// Presented certificates that could not be used, and the reasons.
    package internal(set) var unusable: [UnusableCertificate] = []

    /// Makes a failure. Without a remedy it gets the usual one for its code.
    public init(
        _ code: Code, expected: String, found: String, remedy: String? = nil, certificate: X509Certificate? = nil,
        host: DialedHost? = nil, chain: PresentedChain? = nil
    ) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy ?? code.remedy)
        self.certificate = certificate
        self.host = host
        self.chain = chain
    }
}

extension TrustFailure {
    /// Timestamps that a description shows: more than any legitimate leaf has.
    private static let maximumTimestampsShown = 16

    /// Several lines: reason, facts, certificate, timestamps, presented chain, pins, valid paths, remedy.
    public var description: String {
        var lines = ["\(code.rawValue)\(host.map { " for \($0)" } ?? ""): expected \(expected), found \(found)"]
        if let certificate { lines.append("  certificate: \(certificate.subject)") }
        for one in timestamps.prefix(Self.maximumTimestampsShown) { lines.append("  \(one)") }
        if timestamps.count > Self.maximumTimestampsShown {
            lines.append("  and \(timestamps.count - Self.maximumTimestampsShown) more timestamps")
        }
        if let chain, !chain.certificates.isEmpty { append(chain.description, under: "presented chain", to: &lines) }
        for one in unusable {
            lines.append("  certificate \(one.position) of the presented chain was left out: \(one.reason.found)")
        }
        if !pins.isEmpty { append(pins.map(\.description).joined(separator: "\n"), under: "pins", to: &lines) }
        for path in paths { append(path.description, under: "valid path without a pin", to: &lines) }
        lines.append("  remedy: \(remedy)")
        return lines.joined(separator: "\n")
    }

    private func append(_ text: String, under title: String, to lines: inout [String]) {
        lines.append("  \(title):")
        for line in text.split(separator: "\n") { lines.append("    \(line)") }
    }
}
