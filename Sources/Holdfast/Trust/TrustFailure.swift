/// Why a peer was not trusted: one reason, the facts, and what to do about it.
///
/// Its description is meant to be read: the reason, the chain as presented with the `sha256/…` of each key ready to
/// paste, the pins configured, the valid paths that held none of them, and the remedy. Equality is on the code.
public struct TrustFailure: HoldfastError {
    /// The closed set of reasons.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        // What was presented
        /// The peer presented no certificate.
        case emptyChain
        /// The leaf is not a certificate that can be read.
        case unreadableCertificate
        /// More certificates or bytes were presented than the budget allows.
        case chainTooLarge

        // Path building and validation, RFC 5280 section 6
        /// No path leads from the leaf to an anchor.
        case unknownIssuer
        /// There is no anchor to build a path to.
        case noAnchors
        /// The search used up its budget before it had an answer.
        case budgetExceeded
        /// More intermediates than the setting allows.
        case pathTooLong
        /// A signature does not verify under the issuer's key.
        case invalidSignature
        /// A signature algorithm that is not supported.
        case unsupportedSignatureAlgorithm
        /// A signature made with SHA-1 or MD5.
        case weakSignatureAlgorithm
        /// A public key of a kind that is not supported.
        case unsupportedKey
        /// An RSA key below 2048 bits.
        case weakKey
        /// A certificate's notAfter is in the past.
        case expired
        /// A certificate's notBefore is in the future.
        case notYetValid
        /// A certificate is not version 3.
        case unsupportedVersion
        /// An issuer is not a CA, according to its basicConstraints.
        case notACertificateAuthority
        /// More intermediates below a CA than its pathLenConstraint allows.
        case pathLengthExceeded
        /// An issuer's keyUsage lacks keyCertSign.
        case keyUsageForbidsSigning
        /// The leaf's keyUsage allows no operation that TLS needs.
        case keyUsageForbidsTLS
        /// An extendedKeyUsage leaves out the purpose at hand.
        case wrongExtendedKeyUsage
        /// A name is outside the permitted or inside an excluded subtree of an issuer.
        case nameConstraintViolated
        /// A name constraint that cannot be applied.
        case unsupportedNameConstraint
        /// The validator, or an authority on the path, requires certificate policies that the path does not have.
        case policyConstraintViolated
        /// A critical extension that is not understood.
        case unknownCriticalExtension
        /// An extension whose content does not match its syntax.
        case malformedExtension
        /// An empty issuer, or an issuer's empty subject.
        case emptyName

        /// A certificate is on its issuer's revocation list.
        case revoked
        /// None of the revocation lists of an issuer can be used.
        case revocationUnknown
        /// The leaf lacks the timestamps of transparency logs that the validator requires.
        case notTransparent
        /// The log list is too old, so no timestamps were required; only ever a notice of a decision.
        case transparencyNotEnforced
        /// A certificate is not of the form that the strict profile requires.
        case profileViolation

        // Server identity, RFC 9525
        /// No subjectAltName of the leaf is the host that was dialled.
        case hostNameMismatch
        /// The leaf has no subjectAltName; a common name never identifies a host.
        case noSubjectAlternativeName

        // Policy
        /// A valid path exists and holds none of the pins.
        case pinMismatch
        /// No certificate of the path has one of the candidate pins; only ever a notice of a decision.
        case candidatePinMismatch
        /// The pin set's expiry has passed.
        case pinsExpired
        /// The store has no pins for the host, or all of them have expired.
        case noUsablePins
        /// The pins come from a document that is no longer fresh but still within its grace period; only ever a notice
        /// of a decision.
        case pinsPastTheirTime
        /// The host is retired and must no longer be called.
        case hostRetired
        /// The path ends in an anchor that is trusted in debug builds only; only ever a notice of a decision.
        case debugAnchorUsed
        /// The policy does not cover the host that was dialled.
        case hostNotCovered
        /// The policy needs to know the host that was dialled and was not told.
        case hostUnknown
        /// No policy is registered for the host.
        case noPolicyForHost
        /// There was no trust to evaluate.
        case noTrust
        /// The application's own validation said no.
        case customValidationRejected
        /// The policy's configuration is wrong; it rejects every peer until that is fixed.
        case invalidConfiguration
        /// Validation is switched off for this host; only ever a notice of a decision, never a reason to reject.
        case validationDisabled
        /// The operating system rejected the chain.
        case rejectedBySystem
    }

    /// The reason.
    public let code: Code
    /// What would have been right, what was there instead, and what to do.
    public let facts: ErrorFacts
    /// The certificate at fault, where one is.
    public let certificate: X509Certificate?
    /// The host that was dialled, where it is known.
    public internal(set) var host: DialledHost?
    /// The chain as presented.
    public internal(set) var chain: PresentedChain?
    /// The pins that were looked for.
    public internal(set) var pins: [Pin] = []
    /// Valid paths that held none of the pins.
    public internal(set) var paths: [ValidatedPath] = []
    /// What the operating system said, where it rejected the chain: on Apple's platforms a `CFError`.
    public internal(set) var underlying: (any Error)?
    /// The result for each timestamp of the leaf, if too few of them count.
    public internal(set) var timestamps: [TimestampFinding] = []
    /// Presented certificates that could not be used, and why.
    public internal(set) var unusable: [UnusableCertificate] = []

    /// Makes a failure. Without a remedy it gets the usual one for its code.
    public init(
        _ code: Code, expected: String, found: String, remedy: String? = nil, certificate: X509Certificate? = nil,
        host: DialledHost? = nil, chain: PresentedChain? = nil
    ) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy ?? code.usualRemedy)
        self.certificate = certificate
        self.host = host
        self.chain = chain
    }
}

extension TrustFailure {
    /// Timestamps that a description shows: more than any honest leaf has.
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
