/// Finds the pins of a set in validated paths; certificates are hashed only as the set asks.
struct PinMatcher {
    let pins: PinSet
    /// Whether a pin counts only for the leaf: where the host is not checked, everybody's leaf would do under a pinned
    /// issuer.
    let leafOnly: Bool

    init(_ pins: PinSet, leafOnly: Bool) {
        self.pins = pins
        self.leafOnly = leafOnly
    }

    /// The pins that count, in the order of the path, each once.
    func matches(in path: ValidatedPath) -> [Pin] {
        matches(in: path.certificates.prefix(leafOnly ? 1 : path.certificates.count))
    }

    func matches(in certificates: some Sequence<X509Certificate>) -> [Pin] {
        var found: [Pin] = []
        for certificate in certificates {
            for pin in pins(of: certificate) where !found.contains(pin) { found.append(pin) }
        }
        return found
    }

    /// The pins of the set that a certificate satisfies.
    func pins(of certificate: X509Certificate) -> [Pin] {
        var found: [Pin] = []
        if pins.hasPublicKeyPins {
            let pin = certificate.publicKeyPin
            if pins.contains(pin) { found.append(pin) }
        }
        if pins.hasCertificatePins {
            let pin = certificate.certificatePin
            if pins.contains(pin) { found.append(pin) }
        }
        return found
    }

    /// Why valid paths do not satisfy the set.
    func mismatch(in paths: [ValidatedPath]) -> TrustFailure {
        if leafOnly, paths.contains(where: { !matches(in: $0.certificates).isEmpty }) { return Self.issuerWithoutHost }
        let count = paths.count
        return TrustFailure(
            .pinMismatch, expected: "one of the pins in a valid path",
            found: count == 1 ? "a valid path without one" : "\(count) valid paths without one")
    }

    static let issuerWithoutHost = TrustFailure(
        .invalidConfiguration, expected: "a pin of the server's own certificate, since the host is not checked",
        found: "a pin of an issuer only", remedy: "Check the host, or pin the server's own certificate.")
}
