/// The properties of a certificate that a test can set before it is signed.
///
/// Start from `root`, `intermediate` or `leaf`, which describe certificates that every verifier accepts, and change the
/// part that the test is about. Nothing is checked: any value that can be encoded is encoded, even nonsense.
public struct CertificateSpecification: Sendable {
    /// The version number: 1, 2 or 3. Extensions are written even below version 3, unless there are none.
    public var version = 3
    /// The content bytes of the serial number, written unchanged; nil for 16 random bytes that make a positive number
    /// (RFC 5280 4.1.2.2).
    public var serial: [UInt8]?
    /// The name of the subject, which may be empty.
    public var subject: TestName
    /// The name of the issuer; nil for the subject of the certificate that signs.
    public var issuer: TestName?
    /// The beginning of the validity.
    public var notBefore: CertificateTime
    /// The last second of the validity.
    public var notAfter: CertificateTime
    /// The DER of the SubjectPublicKeyInfo; nil for that of the certificate's key.
    public var subjectPublicKeyInfo: [UInt8]?
    /// The signature algorithm.
    public var signature = TestSignature.automatic

    /// The names of the subject; nil for no extension, empty for an empty list.
    public var subjectAltName: [TestGeneralName]?
    /// Whether subjectAltName is critical; nil means critical only if the subject is empty (RFC 5280 4.2.1.6).
    public var subjectAltNameCritical: Bool?
    /// Whether it may sign certificates; nil for no extension.
    public var basicConstraints: BasicConstraints?
    /// The permitted uses of the key; nil for no extension.
    public var keyUsage: KeyUsage?
    /// Whether keyUsage is critical.
    public var keyUsageCritical = true
    /// The purposes of the certificate; nil for no extension, empty for an empty list.
    public var extendedKeyUsage: [TestObjectIdentifier]?
    /// Whether extendedKeyUsage is critical.
    public var extendedKeyUsageCritical = false
    /// The names that certificates below it may have; nil for no extension.
    public var nameConstraints: NameConstraints?
    /// The policies under which it was issued; nil for no extension, empty for an empty list.
    public var certificatePolicies: [TestObjectIdentifier]?
    /// The policy requirements for certificates below it; nil for no extension.
    public var policyConstraints: PolicyConstraints?
    /// The identifier of its own key.
    public var subjectKeyIdentifier = KeyIdentifier.automatic
    /// The identifier of the signer's key. `automatic` writes the identifier from the signer's certificate, and nothing
    /// if that has none or if the certificate is self-signed.
    public var authorityKeyIdentifier = KeyIdentifier.automatic
    /// Extensions to add after those above. Duplicates are allowed.
    public var extensions: [TestExtension] = []
    /// Timestamps of transparency logs (RFC 6962 3.3). They are in an extension after all others; if there are none,
    /// the extension is absent.
    public var timestamps: [TestTimestamp] = []
    /// The faults of the certificate.
    public var faults: [CertificateFault] = []

    /// Makes a version 3 certificate that has only the key identifiers as extensions, valid from an hour ago for 90
    /// days.
    public init(subject: TestName, notBefore: CertificateTime = .hours(-1), notAfter: CertificateTime = .days(90)) {
        self.subject = subject
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    /// A root: a CA with keyCertSign and cRLSign, valid from two days ago for ten years.
    public static func root(_ subject: TestName) -> CertificateSpecification {
        var specification = CertificateSpecification(subject: subject, notBefore: .days(-2), notAfter: .days(3_650))
        specification.basicConstraints = BasicConstraints(isAuthority: true)
        specification.keyUsage = [.keyCertSign, .crlSign]
        return specification
    }

    /// An intermediate authority: like a root, but valid from a day ago for five years, with a path length if one is
    /// given.
    public static func intermediate(_ subject: TestName, pathLength: Int? = nil) -> CertificateSpecification {
        var specification = root(subject)
        specification.notBefore = .days(-1)
        specification.notAfter = .days(1_825)
        specification.basicConstraints = BasicConstraints(isAuthority: true, pathLength: pathLength)
        return specification
    }

    /// The certificate of a TLS server or client: these names, digitalSignature, the given purposes, not a CA. Without
    /// a subject, the common name is the first DNS name; if there is no DNS name, the subject is empty.
    public static func leaf(
        names: [TestGeneralName], purposes: [TestObjectIdentifier] = [.serverAuthentication],
        subject: TestName? = nil
    ) -> CertificateSpecification {
        let common = names.lazy.compactMap { name in
            if case .dns(let text) = name { text } else { nil }
        }.first
        var specification = CertificateSpecification(subject: subject ?? common.map(TestName.commonName) ?? .empty)
        specification.subjectAltName = names.isEmpty ? nil : names
        specification.basicConstraints = BasicConstraints(isAuthority: false)
        specification.keyUsage = .digitalSignature
        specification.extendedKeyUsage = purposes.isEmpty ? nil : purposes
        return specification
    }
}

extension CertificateSpecification {
    /// basicConstraints (RFC 5280 4.2.1.9).
    public struct BasicConstraints: Sendable, Hashable {
        /// Whether the subject is a certificate authority. False is not written, because it is the default.
        public var isAuthority: Bool
        /// The maximum number of following intermediate certificates; nil for any number.
        public var pathLength: Int?
        /// Whether the extension is critical.
        public var isCritical: Bool

        /// Makes the extension. Values that do not belong together can be combined.
        public init(isAuthority: Bool, pathLength: Int? = nil, isCritical: Bool = true) {
            self.isAuthority = isAuthority
            self.pathLength = pathLength
            self.isCritical = isCritical
        }
    }

    /// keyUsage (RFC 5280 4.2.1.3). Bit 0 of the extension is the lowest bit here.
    public struct KeyUsage: OptionSet, Sendable, Hashable {
        /// The bits; `digitalSignature` is the lowest.
        public let rawValue: UInt16

        /// Makes a set of these bits. Bits above 8 are undefined, but they are written.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// Signs data, such as a TLS handshake.
        public static let digitalSignature = KeyUsage(rawValue: 1 << 0)
        /// contentCommitment, once called nonRepudiation.
        public static let contentCommitment = KeyUsage(rawValue: 1 << 1)
        /// Encrypts keys, as in TLS 1.2's RSA key exchange.
        public static let keyEncipherment = KeyUsage(rawValue: 1 << 2)
        /// Encrypts data.
        public static let dataEncipherment = KeyUsage(rawValue: 1 << 3)
        /// Agrees on keys.
        public static let keyAgreement = KeyUsage(rawValue: 1 << 4)
        /// Signs certificates.
        public static let keyCertSign = KeyUsage(rawValue: 1 << 5)
        /// Signs revocation lists.
        public static let crlSign = KeyUsage(rawValue: 1 << 6)
        /// Encrypts only, with keyAgreement.
        public static let encipherOnly = KeyUsage(rawValue: 1 << 7)
        /// Decrypts only, with keyAgreement.
        public static let decipherOnly = KeyUsage(rawValue: 1 << 8)
    }

    /// nameConstraints (RFC 5280 4.2.1.10).
    public struct NameConstraints: Sendable, Hashable {
        /// Names of these kinds must lie in one of these subtrees; an empty list is not written.
        public var permitted: [TestGeneralName]
        /// No name may lie in one of these subtrees; an empty list is not written.
        public var excluded: [TestGeneralName]
        /// Whether the extension is critical.
        public var isCritical: Bool

        /// Makes the extension. An IP range is `.address` with 8 or 32 bytes: the address, then the mask.
        public init(permitted: [TestGeneralName] = [], excluded: [TestGeneralName] = [], isCritical: Bool = true) {
            self.permitted = permitted
            self.excluded = excluded
            self.isCritical = isCritical
        }
    }

    /// policyConstraints (RFC 5280 4.2.1.11).
    public struct PolicyConstraints: Sendable, Hashable {
        /// The number of further certificates after which the path needs an acceptable policy; nil for never.
        public var requireExplicitPolicy: Int?
        /// The number of further certificates after which policies may not be mapped; nil for never.
        public var inhibitPolicyMapping: Int?
        /// Whether the extension is critical.
        public var isCritical: Bool

        /// Makes the extension.
        public init(requireExplicitPolicy: Int? = nil, inhibitPolicyMapping: Int? = nil, isCritical: Bool = true) {
            self.requireExplicitPolicy = requireExplicitPolicy
            self.inhibitPolicyMapping = inhibitPolicyMapping
            self.isCritical = isCritical
        }
    }

    /// subjectKeyIdentifier or authorityKeyIdentifier (RFC 5280 4.2.1.2 and 4.2.1.1).
    public enum KeyIdentifier: Sendable, Hashable {
        /// For subjectKeyIdentifier, `TestKey.keyIdentifier`; for authorityKeyIdentifier, that of the signer's
        /// certificate.
        case automatic
        /// No extension.
        case absent
        /// These bytes.
        case octets([UInt8])
    }
}
