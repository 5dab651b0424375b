/// A rule that a certificate breaks. The words are made only when somebody reads them: a search meets many violations
/// and reports one.
struct Violation: Error {
    let code: TrustFailure.Code
    let certificate: X509Certificate?
    /// What came of the leaf's timestamps, where there are not enough.
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

    /// An extension that does not read as its syntax says.
    init(_ error: DERError, in field: String, of certificate: X509Certificate) {
        self.init(.malformedExtension, certificate, "\(field) in DER (RFC 5280 4.2)", error.description)
    }

    func failure(host: DialledHost?, chain: PresentedChain) -> TrustFailure {
        let (expected, found) = words()
        var failure = TrustFailure(
            code, expected: expected, found: found, remedy: remedy, certificate: certificate, host: host, chain: chain)
        failure.timestamps = timestamps
        return failure
    }

    /// What helps where the usual remedy does not: nobody issued intermediates for a certificate that signs itself.
    private var remedy: String? {
        guard code == .unknownIssuer, certificate?.isSelfIssued == true else { return nil }
        return "If you trust it, add it to the anchors or pin it; or have the server use a certificate of an authority."
    }

    /// How much a reader learns from it: of all violations of a search the highest is reported. That a search ended
    /// early comes before anything it saw; a broken right of an issuer that was found comes before not finding one.
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
