/// A rule that a certificate breaks. The text is made only when it is read, because a search finds many violations and
/// reports one.
struct Violation: Error {
    let code: TrustFailure.Code
    let certificate: X509Certificate?
    /// The results for the leaf's timestamps, if too few count.
    var timestamps: [TimestampFinding] = []
    /// A specific remedy, if it is not the usual one for the code.
    private(set) var specificRemedy: String?
    private let words: @Sendable () -> (expected: String, found: String)

    init(
        _ code: TrustFailure.Code, _ certificate: X509Certificate?,
        words: @escaping @Sendable () -> (expected: String, found: String)
    ) {
        self.code = code
        self.certificate = certificate
        self.words = words
    }

    init(
        _ code: TrustFailure.Code, _ certificate: X509Certificate?,
        _ expected: @autoclosure @escaping @Sendable () -> String,
        _ found: @autoclosure @escaping @Sendable () -> String
    ) {
        self.init(code, certificate) { (expected(), found()) }
    }

    /// A certificate names another key of its issuer than the one that was tried (RFC 5280 4.2.1.1): an authority has
    /// renewed its key under the same name. Nothing was altered; the issuer's other certificate is missing.
    init(
        _ certificate: X509Certificate, issuedBy wanted: ArraySlice<UInt8>, not issuer: X509Certificate,
        with found: ArraySlice<UInt8>
    ) {
        self.init(.unknownIssuer, certificate) {
            (
                "a certificate of \(issuer.subject) with the key identifier \(Self.shown(wanted)), which "
                    + "authorityKeyIdentifier names",
                "one of the same name for another key, \(Self.shown(found))"
            )
        }
        specificRemedy =
            "The authority has more than one key under this name: have the server send the issuer's certificate for the "
            + "key that is named, or add that one to the anchors if you trust it."
    }

    /// The start of a key identifier. As a rule it is the SHA-1 of a key (RFC 5280 4.2.1.2), but an attacker may write
    /// a long one.
    private static func shown(_ identifier: ArraySlice<UInt8>) -> String {
        Hexadecimal.encode(identifier.prefix(20)) + (identifier.count > 20 ? "…" : "")
    }

    /// Makes the violation of an extension that does not match its syntax.
    init(_ error: DERError, in field: String, of certificate: X509Certificate) {
        self.init(.malformedExtension, certificate, "\(field) in DER (RFC 5280 4.2)", error.description)
    }

    func failure(host: DialedHost?, chain: PresentedChain) -> TrustFailure {
        let (expected, found) = words()
        var failure = TrustFailure(
            code, expected: expected, found: found, remedy: remedy, certificate: certificate, host: host, chain: chain)
        failure.timestamps = timestamps
        return failure
    }

    /// The remedy, if it differs from the usual one: a self-signed certificate has no missing intermediates.
    private var remedy: String? {
        if let specificRemedy { return specificRemedy }
        guard code == .unknownIssuer, certificate?.isSelfIssued == true else { return nil }
        return "If you trust it, add it to the anchors or pin it; or have the server use a certificate of an authority."
    }

    /// How informative it is: a search reports its highest violation. An exhausted budget ranks above everything, and
    /// an issuer without the right to issue ranks above a missing issuer.
    var rank: Int {
        switch code {
        case .budgetExceeded: 5
        case .unknownIssuer where specificRemedy != nil: 1
        case .unknownIssuer, .noAnchors: 0
        case .invalidSignature: 1
        case .unsupportedKey, .unsupportedSignatureAlgorithm: 2
        case .notACertificateAuthority, .unsupportedVersion: 3
        default: 4
        }
    }
}
