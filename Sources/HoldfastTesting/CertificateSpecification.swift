/// Everything that a test can say about a certificate before it is signed.
///
/// Start from `root`, `intermediate` or `leaf`, which describe certificates that every verifier accepts, and change
/// what the test is about. Nothing is checked: any nonsense that can be encoded is.
public struct CertificateSpecification: Sendable {
    /// The version as people count it: 1, 2 or 3. Below 3, extensions are still written unless there are none.
    public var version = 3
    /// The content octets of the serial number, written as they are; nil for 16 random octets that make a positive
    /// number (RFC 5280 4.1.2.2).
    public var serial: [UInt8]?
    /// The name of the subject, which may be empty.
    public var subject: TestName
    /// The name of the issuer; nil for the subject of the certificate that signs.
    public var issuer: TestName?
    /// The begin of the validity.
    public var notBefore: CertificateTime
    /// The last second of the validity.
    public var notAfter: CertificateTime
    /// The DER of the SubjectPublicKeyInfo when it is to be another than that of the certificate's key.
    public var subjectPublicKeyInfo: [UInt8]?
    /// How it is signed.
    public var signature = TestSignature.automatic

    /// The names of the subject; nil for no extension, empty for an empty list.
    public var subjectAltName: [TestGeneralName]?
    /// Whether subjectAltName is critical; nil for critical when the subject is empty (RFC 5280 4.2.1.6).
    public var subjectAltNameCritical: Bool?
    /// Whether it may sign certificates; nil for no extension.
    public var basicConstraints: BasicConstraints?
    /// What the key may do; nil for no extension.
    public var keyUsage: KeyUsage?
    /// Whether keyUsage is critical.
    public var keyUsageCritical = true
    /// What the certificate is for; nil for no extension, empty for an empty list.
    public var extendedKeyUsage: [TestObjectIdentifier]?
    /// Whether extendedKeyUsage is critical.
    public var extendedKeyUsageCritical = false
    /// The names that certificates below may carry; nil for no extension.
    public var nameConstraints: NameConstraints?
    /// The policies that it was issued under; nil for no extension, empty for an empty list.
    public var certificatePolicies: [TestObjectIdentifier]?
    /// What is asked of the policies below; nil for no extension.
    public var policyConstraints: PolicyConstraints?
    /// The identifier of its own key.
    public var subjectKeyIdentifier = KeyIdentifier.automatic
    /// The identifier of the signer's key. `automatic` writes what the signer's certificate says of itself: nothing
    /// if that has none, nothing if the certificate signs itself.
    public var authorityKeyIdentifier = KeyIdentifier.automatic
    /// Extensions to add after those above, duplicates allowed.
    public var extensions: [TestExtension] = []
    /// Timestamps of transparency logs (RFC 6962 3.3), in an extension after all others; without any there is none.
    public var timestamps: [TestTimestamp] = []
    /// What is to be wrong with it.
    public var faults: [CertificateFault] = []

    /// A version 3 certificate without extensions but the key identifiers, valid from an hour ago for 90 days.
    public init(subject: TestName, notBefore: CertificateTime = .hours(-1), notAfter: CertificateTime = .days(90)) {
        self.subject = subject
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    /// A root: CA, keyCertSign and cRLSign, valid from two days ago for ten years.
    public static func root(_ subject: TestName) -> CertificateSpecification {
        var specification = CertificateSpecification(subject: subject, notBefore: .days(-2), notAfter: .days(3_650))
        specification.basicConstraints = BasicConstraints(isAuthority: true)
        specification.keyUsage = [.keyCertSign, .crlSign]
        return specification
    }

    /// An issuing authority: as a root, valid from a day ago for five years, with a path length if one is given.
    public static func intermediate(_ subject: TestName, pathLength: Int? = nil) -> CertificateSpecification {
        var specification = root(subject)
        specification.notBefore = .days(-1)
        specification.notAfter = .days(1_825)
        specification.basicConstraints = BasicConstraints(isAuthority: true, pathLength: pathLength)
        return specification
    }

    /// The certificate of a TLS server or client: these names, digitalSignature, the purposes given, no CA. Without a
    /// subject, the common name is the first DNS name; without one, the subject is empty.
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
        /// Whether the subject is a certificate authority; false is not written, it is the default.
        public var isAuthority: Bool
        /// How many intermediates may follow; nil for any number.
        public var pathLength: Int?
        /// Whether the extension is critical.
        public var isCritical: Bool

        /// Makes the extension; what does not belong together can be combined.
        public init(isAuthority: Bool, pathLength: Int? = nil, isCritical: Bool = true) {
            self.isAuthority = isAuthority
            self.pathLength = pathLength
            self.isCritical = isCritical
        }
    }

    /// keyUsage (RFC 5280 4.2.1.3). Bit 0 of the extension is the lowest bit here.
    public struct KeyUsage: OptionSet, Sendable, Hashable {
        /// The bits, `digitalSignature` lowest.
        public let rawValue: UInt16

        /// Makes a set of these bits; bits above 8 are not defined and are written all the same.
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

        /// Makes the extension. An IP range is `.address` with 8 or 32 octets, address and mask.
        public init(permitted: [TestGeneralName] = [], excluded: [TestGeneralName] = [], isCritical: Bool = true) {
            self.permitted = permitted
            self.excluded = excluded
            self.isCritical = isCritical
        }
    }

    /// policyConstraints (RFC 5280 4.2.1.11).
    public struct PolicyConstraints: Sendable, Hashable {
        /// After how many certificates an acceptable policy must be named; nil for never.
        public var requireExplicitPolicy: Int?
        /// After how many certificates policies may not be mapped; nil for never.
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

    /// subjectKeyIdentifier or authorityKeyIdentifier (RFC 5280 4.2.1.1 and 4.2.1.2).
    public enum KeyIdentifier: Sendable, Hashable {
        /// The key's own identifier, see `TestKey.keyIdentifier`.
        case automatic
        /// No extension.
        case absent
        /// These octets.
        case octets([UInt8])
    }
}
