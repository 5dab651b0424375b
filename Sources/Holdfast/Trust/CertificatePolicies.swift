/// Which certificate policies a path must have, for qualified website certificates, bridges or extended validation:
/// inputs (c) and (e) to (g) of RFC 5280 6.1.1. Policies are dotted object identifiers.
///
/// ```swift
/// let validator = PathValidator(anchors: anchors, certificatePolicies: .required(["2.23.140.1.1"]))
/// ```
public struct CertificatePolicies: Sendable, Hashable {
    /// The policies that are acceptable; nil for any. A text that is not an object identifier matches no certificate.
    package let acceptable: Set<String>?
    /// Whether the path must be valid for an acceptable policy. If false, it must be only if an authority on the path
    /// requires it.
    package let requiresExplicitPolicy: Bool
    /// Whether policy mapping is forbidden: no authority may declare another's policy equivalent to its own.
    package let inhibitsPolicyMapping: Bool
    /// Whether anyPolicy in a certificate is ignored.
    package let inhibitsAnyPolicy: Bool
    /// The acceptable policies as object identifiers; nil for any.
    let identifiers: Set<OctetString>?

    /// Accepts paths with any policy or with none. A path must still have the policies that its authorities require.
    public static let any = CertificatePolicies()

    /// The path must be valid for one of these policies.
    public static func required(_ acceptable: Set<String>) -> CertificatePolicies {
        CertificatePolicies(acceptable: acceptable, requiresExplicitPolicy: true)
    }

    /// Sets each input separately.
    /// - Parameters:
    ///   - acceptable: the acceptable policies (user-initial-policy-set); nil, or a set with `2.5.29.32.0`, for any.
    ///   - requiresExplicitPolicy: initial-explicit-policy.
    ///   - inhibitsPolicyMapping: initial-policy-mapping-inhibit.
    ///   - inhibitsAnyPolicy: initial-any-policy-inhibit.
    public init(
        acceptable: Set<String>? = nil, requiresExplicitPolicy: Bool = false, inhibitsPolicyMapping: Bool = false,
        inhibitsAnyPolicy: Bool = false
    ) {
        self.acceptable = acceptable
        self.requiresExplicitPolicy = requiresExplicitPolicy
        self.inhibitsPolicyMapping = inhibitsPolicyMapping
        self.inhibitsAnyPolicy = inhibitsAnyPolicy
        let read = acceptable.map { Set($0.compactMap(ObjectIdentifier.content(of:)).map { OctetString($0[...]) }) }
        identifiers = read.flatMap { $0.contains(PolicyExtensions.anyPolicy) ? nil : $0 }
    }

    /// Whether a text is a dotted object identifier; one that is not matches no certificate.
    package static func isObjectIdentifier(_ text: String) -> Bool { ObjectIdentifier.content(of: text) != nil }
}
