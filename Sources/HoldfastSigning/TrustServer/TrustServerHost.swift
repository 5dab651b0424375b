public import Foundation
public import Holdfast

/// The entry of one host in a trust-server document: fingerprints and keys, in the form of the document.
public struct TrustServerHost: Sendable, Hashable {
    /// The host, without its port.
    public let hostname: String
    /// The port.
    public let port: Int
    /// The SHA-256 of each certificate, in lower-case hexadecimal (`fp`).
    public let fingerprints: [String]
    /// The DER of each SubjectPublicKeyInfo, in Base64 (`pk`).
    public let publicKeys: [String]
    /// When a path was last validated for the host, in whole seconds.
    public let validated: Date

    /// Makes an entry. ``TrustServerDraft/signed(by:limits:)`` refuses entries that clients would refuse.
    /// - Parameters:
    ///   - hostname: the host, without its port.
    ///   - port: the port.
    ///   - fingerprints: the SHA-256 of each certificate, in lower-case hexadecimal.
    ///   - publicKeys: the DER of each SubjectPublicKeyInfo, in Base64.
    ///   - validated: when a path was last validated for the host.
    public init(hostname: String, port: Int, fingerprints: [String], publicKeys: [String], validated: Date) {
        self.hostname = hostname
        self.port = port
        self.fingerprints = fingerprints
        self.publicKeys = publicKeys
        self.validated = validated
    }

    package static func fingerprint(of certificate: X509Certificate) -> String {
        Hexadecimal.encode(certificate.certificatePin.digest)
    }

    package static func publicKey(of certificate: X509Certificate) -> String {
        CanonicalBase64.encode(certificate.subjectPublicKeyInfo)
    }
}

/// Pins that every host of a document gets in addition to its own: those of keys and certificates that are ready to
/// replace the ones in use.
public struct TrustServerBackups: Sendable, Hashable {
    /// Maximum number of backup pins of one kind that clients accept in addition to a host's own pins.
    public static let maximumPins = 128

    /// The SHA-256 of each certificate, in lower-case hexadecimal.
    public let fingerprints: [String]
    /// The DER of each SubjectPublicKeyInfo, in Base64.
    public let publicKeys: [String]

    /// Makes an empty set of backups.
    public init() { self.init(fingerprints: [], publicKeys: []) }

    /// Makes backups from certificates, whose keys are included, and from separate keys. Only the key of a Merkle Tree
    /// Certificate (`X509Certificate.isMerkleTreeCertificate`) is included.
    public init(certificates: [X509Certificate], keys: [SubjectPublicKeyInfo]) {
        self.init(
            fingerprints: certificates.filter { !$0.isMerkleTreeCertificate }.map(TrustServerHost.fingerprint),
            publicKeys: certificates.map(TrustServerHost.publicKey) + keys.map { CanonicalBase64.encode(Array($0.der)) }
        )
    }

    package init(fingerprints: [String], publicKeys: [String]) {
        self.fingerprints = fingerprints
        self.publicKeys = publicKeys
    }
}
