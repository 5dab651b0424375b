/// A rule that a certificate breaks. The text is made only when it is read, because a search finds many violations and
/// reports one.
struct Violation: Error {
    let code: TrustFailure.Code
    let certificate: X509Certificate?
    /// The results for the leaf's timestamps, if too few count.
    var timestamps: [TimestampFinding] = []
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

    /// An extension that does not match its syntax.
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

    /// A specific remedy: a self-signed certificate has no missing intermediates.
    private var remedy: String? {
        guard code == .unknownIssuer, certificate?.isSelfIssued == true else { return nil }
        return "If you trust it, add it to the anchors or pin it; or have the server use a certificate of an authority."
    }

    /// How informative it is: a search reports its highest violation. An exhausted budget ranks above everything, and
    /// an issuer without the right to issue ranks above a missing issuer.
    var rank: Int {
        switch code {
        case .budgetExceeded: 5
        case .unknownIssuer, .noAnchors: 0
        case .invalidSignature: 1
        case .unsupportedKey, .unsupportedSignatureAlgorithm: 2
        case .notACertificateAuthority, .unsupportedVersion: 3
        default: 4
        }
    }
}
