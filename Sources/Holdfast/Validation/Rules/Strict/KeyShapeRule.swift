/// The bits of an RSA modulus are a multiple of eight (CA/B BR 6.1.5).
struct KeyShapeRule: PathRule {
    let name = "shape of the key"
    let reference = "CA/B BR 6.1.5"

    func violation(of certificate: X509Certificate, in context: PathRuleContext) -> Violation? {
        guard case .rsa(let bits)? = try? certificate.publicKey.kind, bits % 8 != 0 else { return nil }
        return Violation(.profileViolation, certificate) { ("an RSA modulus of a multiple of 8 bits", "\(bits) bits") }
    }
}
