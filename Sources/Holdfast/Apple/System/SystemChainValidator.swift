#if canImport(Security)
import Security

public import struct Foundation.Date

/// Standard validation by the operating system: `SecPolicyCreateSSL` and `SecTrustEvaluateWithError`.
///
/// The chain that the system evaluated is the only path that it offers, so pins are matched against that chain.
/// Validation may block, on the trust daemon and on the network: on a connection's thread use an `async` call, for
/// example ``TrustManager/decision(for:at:)``.
public struct SystemChainValidator: ChainValidator {
    /// The anchors; nil for those of the system, or those that were set on the `SecTrust`.
    package let anchors: TrustAnchors?
    /// Whether the system checks revocation.
    package let revocation: SystemRevocation
    /// The trust that a connection provided; any other chain gets a new one.
    let trust: SystemTrust?
    private let host: DialedHost?

    /// Makes a validator for chains in DER, such as those of SwiftNIO.
    /// - Parameters:
    ///   - anchors: the only anchors that are trusted; nil for those of the system.
    ///   - revocation: whether the system checks revocation.
    public init(anchors: TrustAnchors? = nil, revocation: SystemRevocation = .system) {
        self.anchors = anchors
        self.revocation = revocation
        trust = nil
        host = nil
    }

    init(_ trust: SystemTrust, of host: DialedHost?, anchors: TrustAnchors?, revocation: SystemRevocation) {
        self.anchors = anchors
        self.revocation = revocation
        self.trust = trust
        self.host = host
    }

    /// Holdfast's own validator with its standard settings. If pins alone decide, the system's revocation is not used.
    public var pathValidator: PathValidator? { PathValidator(anchors: anchors ?? TrustAnchors([])) }

    /// Does nothing: the system fetches lists itself.
    public func noteUse(following paths: [[X509Certificate]]) {}

    /// Evaluates with the system; see ``ChainValidator/validate(_:for:at:accepting:)``. The time is set as the trust's
    /// date.
    public func validate(
        _ chain: PresentedChain, for purpose: ValidationPurpose, at time: Date, accepting: (ValidatedPath) -> Bool
    ) -> ValidationOutcome {
        guard !chain.certificates.isEmpty else { return Self.noCertificate(purpose, chain) }
        // The system cannot evaluate a custom purpose: it would evaluate another one.
        if case .extendedKeyUsage(let identifier) = purpose {
            return Self.failed(
                .wrongExtendedKeyUsage, Self.expectation(purpose), identifier.quoted, purpose, chain,
                remedy: "Validate for purposes of your own with PathValidator.")
        }
        if trust != nil, chain == self.chain { return validate(for: purpose, at: time, accepting: accepting) }
        guard let trust = SystemTrust(chain, for: purpose) else {
            return Self.failed(
                .unreadableCertificate, "certificates that the system can read", "one that it cannot", purpose, chain)
        }
        let evaluation = trust.evaluate(for: purpose, at: time, anchors: anchors, revocation: revocation)
        return outcome(of: evaluation, of: chain, purpose, at: time, accepting)
    }

    private func outcome(
        of evaluation: SystemTrust.Evaluation, of chain: PresentedChain, _ purpose: ValidationPurpose, at time: Date,
        _ accepting: (ValidatedPath) -> Bool
    ) -> ValidationOutcome {
        if let reason = evaluation.failure {
            return Self.failed(
                .rejectedBySystem, Self.expectation(purpose), reason.text, purpose, chain,
                underlying: reason.underlying)
        }
        // Without the presented leaf, the system has evaluated another chain.
        guard let leaf = evaluation.chain.first, leaf == chain.leaf else {
            return Self.failed(
                .rejectedBySystem, "the chain that was presented", "an evaluation of another", purpose, chain)
        }
        do throws(CertificateError) {
            let certificates = try evaluation.chain.map(X509Certificate.init(der:))
            let path = ValidatedPath(
                certificates: certificates, holdsUntil: X509Certificate.earliestEnd(of: certificates, after: time))
            return accepting(path)
                ? ValidationOutcome(path: path, failure: nil)
                : ValidationOutcome(path: nil, otherPaths: [path], failure: nil)
        } catch {
            return Self.failed(
                .unreadableCertificate, "a path of certificates that are \(error.expected)", error.found, purpose, chain
            )
        }
    }

    private static func noCertificate(_ purpose: ValidationPurpose, _ chain: PresentedChain) -> ValidationOutcome {
        failed(.emptyChain, "at least the peer's own certificate", "no certificate", purpose, chain)
    }

    private static func failed(
        _ code: TrustFailure.Code, _ expected: String, _ found: String, _ purpose: ValidationPurpose,
        _ chain: PresentedChain, remedy: String? = nil, underlying: (any Error)? = nil
    ) -> ValidationOutcome {
        var failure = TrustFailure(
            code, expected: expected, found: found, remedy: remedy, host: purpose.host, chain: chain)
        failure.underlying = underlying
        return ValidationOutcome(path: nil, failure: failure)
    }

    private static func expectation(_ purpose: ValidationPurpose) -> String {
        switch purpose {
        case .server(let identity?): "a chain that the system trusts for \(identity.name)"
        case .server(nil): "a chain that the system trusts for a server"
        case .client: "a chain that the system trusts for a client"
        case .extendedKeyUsage: "a server or a client, which are what the system judges"
        }
    }
}

extension SystemChainValidator: EvaluatingValidator {
    var secTrust: SecTrust? { trust?.secTrust }

    var chain: PresentedChain { PresentedChain(trust?.chain(for: .server(identity: host), anchors: anchors) ?? []) }

    func validate(
        for purpose: ValidationPurpose, at time: Date, accepting: (ValidatedPath) -> Bool
    ) -> ValidationOutcome {
        guard let trust else { return Self.noCertificate(purpose, PresentedChain([])) }
        let evaluation = trust.evaluate(for: purpose, at: time, anchors: anchors, revocation: revocation)
        return outcome(of: evaluation, of: chain, purpose, at: time, accepting)
    }
}
#endif
