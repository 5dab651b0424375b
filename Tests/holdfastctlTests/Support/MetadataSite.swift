import Crypto
import Foundation
import HoldfastTestSupport
import HoldfastTesting

/// A repository of The Update Framework with a pin file, as its tools would make it: a key for each role, and files as
/// they are served.
struct MetadataSite {
    private static let roles = ["root", "timestamp", "snapshot", "targets"]

    private let keys: [String: TestKey]
    private let version: Int
    private let expires: Date
    private let pins: Data

    init(pins: Data, version: Int = 1, expires: Date) throws {
        let keys = try Dictionary(uniqueKeysWithValues: Self.roles.map { ($0, try TestKey(.ed25519)) })
        self.init(keys: keys, pins: pins, version: version, expires: expires)
    }

    private init(keys: [String: TestKey], pins: Data, version: Int, expires: Date) {
        self.keys = keys
        self.pins = pins
        self.version = version
        self.expires = expires
    }

    /// The same keys at another time.
    func with(version: Int, expires: Date) -> MetadataSite {
        MetadataSite(keys: keys, pins: pins, version: version, expires: expires)
    }

    /// The file of a role.
    /// - Parameter signer: the role whose key signs in the place of its own.
    func file(_ role: String, signedBy signer: String? = nil) throws -> Data {
        var signed: [String: Any] = [
            "_type": role, "spec_version": "1.0.31", "version": version, "expires": expires.formatted(.iso8601),
        ]
        switch role {
        case "root":
            signed["consistent_snapshot"] = true
            var named: [String: Any] = [:]
            for (role, key) in keys {
                named[Self.id(role)] = [
                    "keytype": "ed25519", "scheme": "ed25519",
                    "keyval": ["public": Self.hexadecimal(Array(key.subjectPublicKeyInfoDER.suffix(32)))],
                ]
            }
            signed["keys"] = named
            signed["roles"] = Dictionary(
                uniqueKeysWithValues: Self.roles.map {
                    ($0, ["keyids": [Self.id($0)], "threshold": 1] as [String: Any])
                })
        case "timestamp": signed["meta"] = ["snapshot.json": ["version": version]]
        case "snapshot": signed["meta"] = ["targets.json": ["version": version]]
        default:
            let digest = Self.hexadecimal(Array(SHA256.hash(data: pins)))
            signed["targets"] = ["pins.json": ["length": pins.count, "hashes": ["sha256": digest]] as [String: Any]]
        }
        // Canonical JSON, as long as nothing in it has to be escaped.
        let octets = try JSONSerialization.data(
            withJSONObject: signed, options: [.sortedKeys, .withoutEscapingSlashes])
        let signature = try keys[signer ?? role]?.signature(of: Array(octets)) ?? []
        let signatures = "[{\"keyid\":\"\(Self.id(role))\",\"sig\":\"\(Self.hexadecimal(signature))\"}]"
        return Data("{\"signatures\":\(signatures),\"signed\":".utf8) + octets + Data("}".utf8)
    }

    /// All of them in one.
    /// - Parameter pins: in the place of the pin file.
    func bundle(pins other: Data? = nil) throws -> Data {
        var fields = ["\"schema\":1", "\"firstRoot\":\(version)"]
        fields.append("\"roots\":[\"\(try file("root").base64EncodedString())\"]")
        for role in Self.roles.dropFirst() { fields.append("\"\(role)\":\"\(try file(role).base64EncodedString())\"") }
        fields.append("\"pins\":\"\((other ?? pins).base64EncodedString())\"")
        return Data("{\(fields.joined(separator: ","))}".utf8)
    }

    static func id(_ role: String) -> String { "\(role)-key" }

    private static func hexadecimal(_ octets: [UInt8]) -> String {
        octets.map { String(format: "%02x", $0) }.joined()
    }
}
