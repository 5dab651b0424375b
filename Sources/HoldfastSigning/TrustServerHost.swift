public import Holdfast

/// What a trust server publishes about one host: fingerprints and keys, in the words of the document.
///
/// A value; safe to use from any thread.
public struct TrustServerHost: Sendable, Hashable, Codable {
    /// The host, without its port.
    public let hostname: String
    /// The port.
    public let port: Int
    /// SHA-256 of each certificate in lower-case hexadecimal (`fp`).
    public internal(set) var fingerprints: [String]
    /// Each key, Base64 of the DER of its SubjectPublicKeyInfo (`pk`).
    public internal(set) var publicKeys: [String]
    /// When the host was last seen with them, in Unix seconds.
    public let seen: Int64

    /// What a host showed in a path that was validated.
    /// - Parameters:
    ///   - host: with its port; 443 where it has none.
    ///   - certificates: those of the path that are to be published.
    ///   - seen: the time in Unix seconds.
    init(_ host: DialledHost, certificates: some Collection<X509Certificate>, seen: Int64) {
        hostname = host.name
        port = host.port ?? 443
        fingerprints = certificates.map { $0.certificatePin.digest.hexadecimal }
        publicKeys = certificates.map { Base64Text.encode(Array($0.subjectPublicKeyInfo)) }
        self.seen = seen
    }

    func isOf(_ host: DialledHost) -> Bool { hostname == host.name && port == host.port ?? 443 }

    mutating func add(_ backups: TrustServerBackups) {
        fingerprints += backups.fingerprints.filter { !fingerprints.contains($0) }
        publicKeys += backups.publicKeys.filter { !publicKeys.contains($0) }
    }
}

/// Pins that every host of a document gets besides its own: of keys and certificates that wait to replace those in use.
public struct TrustServerBackups: Sendable, Hashable {
    /// SHA-256 of each certificate in lower-case hexadecimal.
    public let fingerprints: [String]
    /// Each key, Base64 of the DER of its SubjectPublicKeyInfo.
    public let publicKeys: [String]

    /// No backups.
    public init() { self.init(certificates: [], keys: []) }

    /// Backups from certificates, whose keys count as well, and from keys that stand alone.
    public init(certificates: [X509Certificate], keys: [SubjectPublicKeyInfo]) {
        fingerprints = certificates.map { $0.certificatePin.digest.hexadecimal }
        publicKeys = (certificates.map(\.subjectPublicKeyInfo) + keys.map(\.der)).map { Base64Text.encode(Array($0)) }
    }
}

extension [UInt8] {
    fileprivate var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0x0F)]] }, as: UTF8.self)
    }
}
