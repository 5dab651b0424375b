import Foundation
import HoldfastTestSupport
import HoldfastTesting

@testable import HoldfastTUF

/// A key of a role, in the spelling that a test chooses.
struct TestSigner: Sendable {
    enum Spelling: String, Sendable, CaseIterable {
        case ed25519, ecdsa, ecdsaOfOldType, ecdsaInHexadecimal, ecdsa384, ecdsa384InHexadecimal, rsaPSS, rsaPKCS1
    }

    let id: String
    let key: TestKey
    let spelling: Spelling

    init(_ spelling: Spelling = .ed25519, id: String = UUID().uuidString) throws {
        let choice: TestKey.Choice =
            switch spelling {
            case .ed25519: .ed25519
            case .ecdsa, .ecdsaOfOldType, .ecdsaInHexadecimal: .p256
            case .ecdsa384, .ecdsa384InHexadecimal: .p384
            case .rsaPSS, .rsaPKCS1: .sharedRSA(bits: 2_048, index: 0)
            }
        self.init(try TestKey(choice), spelling, id: id)
    }

    init(_ key: TestKey, _ spelling: Spelling = .ed25519, id: String = UUID().uuidString) {
        self.id = id
        self.key = key
        self.spelling = spelling
    }

    var object: [String: Any] {
        let (type, scheme, value) =
            switch spelling {
            case .ed25519: ("ed25519", "ed25519", hexadecimal(last: 32))
            case .ecdsa: ("ecdsa", "ecdsa-sha2-nistp256", key.publicKeyPEM)
            case .ecdsaOfOldType: ("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256", key.publicKeyPEM)
            case .ecdsaInHexadecimal: ("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256", hexadecimal(last: 65))
            case .ecdsa384: ("ecdsa", "ecdsa-sha2-nistp384", key.publicKeyPEM)
            case .ecdsa384InHexadecimal: ("ecdsa-sha2-nistp384", "ecdsa-sha2-nistp384", hexadecimal(last: 97))
            case .rsaPSS: ("rsa", "rsassa-pss-sha256", key.publicKeyPEM)
            case .rsaPKCS1: ("rsa", "rsa-pkcs1v15-sha256", key.publicKeyPEM)
            }
        return ["keytype": type, "scheme": scheme, "keyval": ["public": value]]
    }

    func signature(of octets: [UInt8]) throws -> String {
        HexText.text(of: try key.signature(of: octets, by: spelling == .rsaPSS ? .rsaPSS(.sha256) : .automatic))
    }

    private func hexadecimal(last count: Int) -> String { HexText.text(of: key.subjectPublicKeyInfoDER.suffix(count)) }
}
