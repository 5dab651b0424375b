/// Where Holdfast answers otherwise than x509-limbo expects, on purpose. All are acceptances; an answer that agrees
/// although it stands here fails the test too, so that the list stays true.
struct LimboDifference {
    enum Reason {
        /// A rule about the form of certificates that stops no attacker: the holder of the certificate could have
        /// had a conforming one from the same issuer.
        case profileOnly
        /// Something about revocation that is not checked.
        case revocation
        /// The case names no identity to check.
        case noReferenceIdentity
    }

    let id: String
    let clause: String
    let reason: Reason

    private static func all(_ reason: Reason, _ clause: String, _ ids: String...) -> [LimboDifference] {
        ids.map { LimboDifference(id: $0, clause: clause, reason: reason) }
    }

    static let standard: [LimboDifference] = [
        all(.profileOnly, "RFC 5280 4.1.2.2", "rfc5280::serial::too-long", "rfc5280::serial::zero"),
        all(
            .profileOnly, "RFC 5280 4.2.1.1", "rfc5280::aki::critical-aki", "rfc5280::aki::leaf-missing-aki",
            "rfc5280::aki::intermediate-missing-aki", "rfc5280::aki::cross-signed-root-missing-aki"),
        all(
            .profileOnly, "RFC 5280 4.2.1.2", "rfc5280::ski::critical-ski", "rfc5280::ski::root-missing-ski",
            "rfc5280::ski::intermediate-missing-ski"),
        all(
            .profileOnly, "RFC 5280 4.2.1.6", "rfc5280::san::noncritical-with-empty-subject",
            "rfc5280::san::underscore-dns"),
        all(
            .profileOnly, "RFC 5280 4.2.1.9", "rfc5280::root-non-critical-basic-constraints",
            "rfc5280::leaf-ku-keycertsign"),
        all(
            .profileOnly, "RFC 5280 4.2.1.10", "rfc5280::nc::permitted-dns-match-noncritical",
            "rfc5280::nc::invalid-dnsname-leading-period"),
        all(.profileOnly, "RFC 5280 4.2.1.11", "rfc5280::pc::ica-noncritical-pc"),
        all(.profileOnly, "RFC 5280 4.2.2.1", "webpki::malformed-aia"),

        all(.profileOnly, "CA/B BR 3.2.2.6", "webpki::san::public-suffix-wildcard-san"),
        all(.profileOnly, "CA/B BR 3.2.2.6", "webpki::san::public-suffix-multi-label-wildcard-san"),
        all(.profileOnly, "CA/B BR 3.2.2.6", "webpki::san::public-suffix-private-namespace-wildcard-san"),
        all(
            .profileOnly, "CA/B BR 6.1.5", "webpki::forbidden-rsa-not-divisible-by-8-in-root",
            "webpki::forbidden-rsa-key-not-divisible-by-8-in-leaf"),
        all(.profileOnly, "CA/B BR 7.1.2.1.2", "webpki::eku::root-has-eku"),
        all(
            .profileOnly, "CA/B BR 7.1.2.1.3", "webpki::aki::root-with-aki-missing-keyidentifier",
            "webpki::aki::root-with-aki-authoritycertissuer", "webpki::aki::root-with-aki-authoritycertserialnumber",
            "webpki::aki::root-with-aki-all-fields", "webpki::aki::root-with-aki-ski-mismatch"),
        all(.profileOnly, "CA/B BR 7.1.2.7.6", "webpki::ca-as-leaf", "webpki::ee-basicconstraints-ca"),
        all(
            .profileOnly, "CA/B BR 7.1.2.7.10", "webpki::eku::ee-anyeku", "webpki::eku::ee-critical-eku",
            "webpki::eku::ee-without-eku"),
        all(.profileOnly, "CA/B BR 7.1.2.7.12", "webpki::san::san-critical-with-nonempty-subject"),
        all(
            .profileOnly, "CA/B BR 7.1.4.3", "webpki::cn::ipv4-hex-mismatch", "webpki::cn::ipv4-leading-zeros-mismatch",
            "webpki::cn::ipv6-uppercase-mismatch", "webpki::cn::ipv6-uncompressed-mismatch",
            "webpki::cn::ipv6-non-rfc5952-mismatch", "webpki::cn::punycode-not-in-san", "webpki::cn::not-in-san",
            "webpki::cn::case-mismatch"),
    ].flatMap(\.self)

    /// Cases that `.strict` still accepts. In each, agreeing would mean refusing another case that must be accepted, or
    /// certificates of the public web.
    static let strict: [LimboDifference] = [
        // rfc5280::eku::ee-without-eku is the same chain and must be accepted.
        all(.profileOnly, "CA/B BR 7.1.2.7.10", "webpki::eku::ee-without-eku"),
        // webpki::nc::permitted-dns-match-noncritical is the same chain and must be accepted.
        all(.profileOnly, "RFC 5280 4.2.1.10", "rfc5280::nc::permitted-dns-match-noncritical"),
        // rfc5280::ca-as-leaf is the same chain and must be accepted.
        all(.profileOnly, "CA/B BR 7.1.2.7.6", "webpki::ca-as-leaf"),
        // Seven cases that must be accepted have a common name that is no subjectAltName entry.
        all(.profileOnly, "CA/B BR 7.1.4.3", "webpki::cn::not-in-san"),
        // The anchor of cve::cve-2024-0567, which must be accepted, is cross-signed and has no authorityKeyIdentifier.
        all(.profileOnly, "RFC 5280 4.2.1.1", "rfc5280::aki::cross-signed-root-missing-aki"),
        // online::s3.amazonaws.com has such a wildcard: the rule is about registries' suffixes, not about those under
        // which a company gives names to its customers (CA/B BR 3.2.2.6).
        all(.profileOnly, "CA/B BR 3.2.2.6", "webpki::san::public-suffix-private-namespace-wildcard-san"),
    ].flatMap(\.self)
}
