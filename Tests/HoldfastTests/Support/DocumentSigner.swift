import Crypto
import Foundation

@testable import Holdfast

/// Signs documents in tests, with no line of what verifies them.
struct DocumentSigner {
    let key = P256.Signing.PrivateKey()

    var publicKey: DocumentPublicKey {
        get throws { try DocumentPublicKey(base64: key.publicKey.x963Representation.base64EncodedString()) }
    }

    func signature(_ message: Data) throws -> String {
        try key.signature(for: message).derRepresentation.base64EncodedString()
    }

    /// One entry of a static list, as text.
    func entry(
        _ name: String, _ fingerprint: Data, _ expires: Int64, more: String = "", signing signed: String? = nil
    ) throws -> String {
        let base64 = fingerprint.base64EncodedString()
        let signature = try signature(Data((signed ?? "\(name)&\(base64)&\(expires)").utf8))
        return
            #"{"name":"\#(name)","fingerprint":"\#(base64)","expires":\#(expires),"signature":"\#(signature)"\#(more)}"#
    }

    func list(_ entries: [String], more: String = "") -> Data {
        Data(#"{"fingerprints":[\#(entries.joined(separator: ","))]\#(more)}"#.utf8)
    }

    /// A body of an answer to a challenge, without signature.
    static func body(_ entries: [(name: String, fingerprint: Data, expires: Int64)], at time: Int64, more: String = "")
        -> Data
    {
        let list = entries.map {
            #"{"name":"\#($0.name)","fingerprint":"\#($0.fingerprint.base64EncodedString())","expires":\#($0.expires)}"#
        }
        return Data(#"{"timestamp":\#(time),"fingerprints":[\#(list.joined(separator: ","))]\#(more)}"#.utf8)
    }

    func answer(to challenge: String, _ body: Data) throws -> String {
        try signature(Data("\(challenge)&".utf8) + body)
    }
}

extension Data {
    /// 32 bytes that are not the digest of any certificate.
    static func fingerprint(_ number: UInt8) -> Data { Data(repeating: number, count: 32) }
}
