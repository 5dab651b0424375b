import Foundation
package import Holdfast

/// A public key of a role (section 4.2.2). A key of an unknown kind is not an error, but it verifies nothing.
package struct MetadataKey: Sendable {
    private let key: VerificationKey?
    private let scheme: VerificationKey.Scheme
    /// The scheme or the kind of key, for messages, if no signature is verified with this key; nil for a supported key.
    package let unsupportedName: String?

    /// Reads a key as a root file lists it.
    /// - Throws: ``TUFError`` if it is not a key object at all.
    package init(_ tree: JSONTree) throws(TUFError) {
        let fields = try Fields(tree, "key")
        let type = try fields.text("keytype")
        let value = try fields.object("keyval")
        let name = Array(try fields.text("scheme"))
        (key, scheme) = Self.read(type: Array(type), scheme: name, value: try? value.text("public"))
        if let key {
            unsupportedName = key.unsupportedName(for: scheme).map { "\(name.quotedName) with a key of \($0)" }
        } else if Self.schemes.contains(where: { name.elementsEqual($0.utf8) }) {
            unsupportedName = "\(name.quotedName) with a key that cannot be read"
        } else {
            unsupportedName = name.quotedName
        }
    }

    private static let schemes = [
        "ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "rsassa-pss-sha256", "rsa-pkcs1v15-sha256",
    ]

    private static func read(
        type: [UInt8], scheme: [UInt8], value: ArraySlice<UInt8>?
    ) -> (VerificationKey?, VerificationKey.Scheme) {
        guard let value, type.count <= 64, scheme.count <= 64 else { return (nil, .ed25519) }
        switch (String(decoding: type, as: UTF8.self), String(decoding: scheme, as: UTF8.self)) {
        case ("ed25519", "ed25519"):
            return (HexText.octets(of: value).flatMap { VerificationKey(ed25519: $0) }, .ed25519)
        // Spellings from before 2021 have the curve in the type, and often the point in hexadecimal.
        case ("ecdsa", "ecdsa-sha2-nistp256"), ("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256"):
            return (pem(value) ?? HexText.octets(of: value).flatMap { VerificationKey(x963: $0) }, .ecdsaP256)
        case ("ecdsa", "ecdsa-sha2-nistp384"), ("ecdsa-sha2-nistp384", "ecdsa-sha2-nistp384"):
            return (pem(value) ?? HexText.octets(of: value).flatMap { VerificationKey(x963: $0) }, .ecdsaP384)
        case ("rsa", "rsassa-pss-sha256"): return (pem(value), .rsaPSS)
        case ("rsa", "rsa-pkcs1v15-sha256"): return (pem(value), .rsaPKCS1)
        default: return (nil, .ed25519)
        }
    }

    private static func pem(_ text: ArraySlice<UInt8>) -> VerificationKey? {
        let blocks = PEMBlocks.read(Data(text))
        guard blocks.count == 1, blocks[0].label == "PUBLIC KEY", case .success(let der) = blocks[0].content else {
            return nil
        }
        return VerificationKey(der: der)
    }

    /// Equal for equal keys, even if their ids differ; nil for a key that verifies nothing.
    package var identity: [UInt8]? { unsupportedName == nil ? key?.identity : nil }

    /// The pin of the key; nil for a key that verifies nothing.
    package var pin: Pin? { key.flatMap { try? Pin.publicKey(spkiDER: $0.subjectPublicKeyInfo) } }

    /// The algorithm of the key's signatures.
    package var signatureScheme: TUFSettings.SignatureScheme {
        switch scheme {
        case .ed25519: .ed25519
        case .ecdsaP256: .ecdsaP256
        case .ecdsaP384: .ecdsaP384
        case .rsaPSS: .rsaPSS
        case .rsaPKCS1: .rsaPKCS1
        }
    }

    /// Whether a signature over a message verifies.
    package func verifies(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        key?.verifies(signature, over: message, by: scheme) ?? false
    }
}

extension VerificationKey {
    /// Reads the 32 bytes of an Ed25519 key (RFC 8032); nil for anything else.
    fileprivate init?(ed25519 octets: [UInt8]) {
        guard octets.count == 32 else { return nil }
        self.init(der: [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00] + octets)
    }

    /// Reads an uncompressed point of P-256 or P-384 (ANSI X9.63); nil for anything else.
    fileprivate init?(x963 octets: [UInt8]) {
        switch octets.count {
        case 65: self.init(der: Self.p256Prefix + octets)
        case 97: self.init(der: Self.p384Prefix + octets)
        default: return nil
        }
    }

    /// SubjectPublicKeyInfo up to the point (RFC 5480 2).
    private static let p256Prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48,
        0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]
    private static let p384Prefix: [UInt8] = [
        0x30, 0x76, 0x30, 0x10, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x05, 0x2B, 0x81, 0x04,
        0x00, 0x22, 0x03, 0x62, 0x00,
    ]
}
