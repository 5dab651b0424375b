import Crypto
import Foundation
import Holdfast

/// A transparency log in memory (RFC 6962): a key that signs timestamps. It keeps no tree.
///
/// ```swift
/// let logs = [try TestTransparencyLog(name: "Log 1"), try TestTransparencyLog(name: "Log 2")]
/// let leaf = try authority.leaf(names: ["www.example.com"]) { $0.timestamps = logs.map { TestTimestamp(of: $0) } }
/// ```
public struct TestTransparencyLog: Sendable, Hashable {
    /// The display name of the log.
    public var name: String
    /// The key that signs its timestamps.
    public let key: TestKey

    /// Makes a log with a key. Real logs have P-256 or RSA keys (RFC 6962 2.1.4).
    ///
    /// Throws `keyGenerationFailed` for a key that cannot be made.
    public init(name: String = "Test Log", key: TestKey.Choice = .p256) throws(TestKitError) {
        self.name = name
        self.key = try TestKey(key)
    }

    /// The SHA-256 of the SubjectPublicKeyInfo, by which timestamps name the log (RFC 6962 3.2).
    public var identifier: [UInt8] { Array(SHA256.hash(data: key.subjectPublicKeyInfoDER)) }
}

/// A timestamp that a log gives to a certificate.
public struct TestTimestamp: Sendable {
    /// The log that gives the timestamp.
    public var log: TestTransparencyLog
    /// The time that it states.
    public var date: CertificateTime
    /// The content of its extensions. Logs with tiles put an index there; see ``leafIndex(_:)``.
    public var extensions: [UInt8]
    /// The version byte; 0 means version 1.
    public var version: UInt8 = 0
    /// The key that signs it; nil for the log's key.
    public var signer: TestKey?
    /// Changes the serialized timestamp after it was signed.
    public var change: (@Sendable ([UInt8]) -> [UInt8])?

    /// Makes a timestamp in the form of real logs, by default one from an hour ago.
    public init(of log: TestTransparencyLog, at date: CertificateTime = .hours(-1), extensions: [UInt8] = []) {
        self.log = log
        self.date = date
        self.extensions = extensions
    }

    /// The extension `leaf_index` of static-ct-api: a number of 40 bits.
    public static func leafIndex(_ index: Int) -> [UInt8] {
        [0, 0, 5] + stride(from: 32, through: 0, by: -8).map { UInt8(truncatingIfNeeded: index >> $0) }
    }

    /// The serialized timestamp (RFC 6962 3.2) for a TBSCertificate.
    func encoded(for content: [UInt8], issuerKey: [UInt8], now: Date) throws(TestKitError) -> [UInt8] {
        let milliseconds = UInt64(max(0, (date.date(now: now) ?? now).timeIntervalSince1970) * 1_000)
        let time = stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: milliseconds >> UInt64($0)) }
        let signed =
            [version, 0] + time + [0, 1] + Array(SHA256.hash(data: issuerKey)) + Self.vector(content, octets: 3)
            + Self.vector(extensions, octets: 2)
        let key = signer ?? log.key
        let algorithm: UInt8 =
            switch key.kind {
            case .rsa: 1
            case .p256, .p384, .p521, .ed25519: 3
            }
        let signature = try key.signature(of: signed)
        let encoded =
            [version] + log.identifier + time + Self.vector(extensions, octets: 2) + [4, algorithm]
            + Self.vector(signature, octets: 2)
        return change?(encoded) ?? encoded
    }

    /// The certificate extension that contains serialized timestamps (RFC 6962 3.3).
    public static func `extension`(of timestamps: [[UInt8]]) -> TestExtension {
        let list = vector(timestamps.flatMap { vector($0, octets: 2) }, octets: 2)
        return TestExtension(.signedCertificateTimestamps, value: TestDER.octetString(list))
    }

    private static func vector(_ content: [UInt8], octets: Int) -> [UInt8] {
        (0..<octets).reversed().map { UInt8(truncatingIfNeeded: content.count >> ($0 * 8)) } + content
    }
}
