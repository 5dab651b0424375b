import Foundation
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore

@Suite("Vectors of contents, audits, fences and sealed keys")
struct ContentVectorTests {
    @Test("docs/vectors/server-content.json is what this program writes")
    func content() throws {
        let contents = try [
            ("everything", ContentTests.content()),
            ("least", Content(app: AppName("a1"), hosts: [], formats: [], end: 0)),
        ]
        let good = String(decoding: try ContentTests.content().bytes, as: UTF8.self)
        let refused = [
            good + "\n", good.replacing("\":", with: "\": "), good.replacing("443", with: "443.0", maxReplacements: 1),
            good.replacing("api", with: "\\u0061pi"),
            good.replacing("{\"app\"", with: "{\"more\":1,\"app\"", maxReplacements: 1),
        ]
        for text in refused { #expect(throws: ServerError.self) { try Content(Array(text.utf8)) } }
        try Vectors.expect(
            "server-content.json",
            [
                "format": "holdfast-content-v1. docs/server/backup.md says how they are written.",
                "contents": contents.map { name, content in
                    [
                        "name": name, "text": String(decoding: content.bytes, as: UTF8.self),
                        "sha256": "\(content.digest)",
                    ]
                },
                "refused": refused,
            ])
    }

    @Test("docs/vectors/server-audit.json is what this program writes")
    func audit() throws {
        let (entries, heads) = try AuditChainTests.story()
        try Vectors.expect(
            "server-audit.json",
            [
                "format": "holdfast-audit-v1. docs/server/backup.md says how they are written.",
                "entries": entries.map { String(decoding: $0, as: UTF8.self) }, "heads": heads.map(\.description),
            ])
    }

    @Test("The sealed key of docs/vectors/server-sealed-key.json opens")
    func sealedKey() throws {
        let name = "server-sealed-key.json"
        let secret = SealedKeyTests.secret()
        let place = try SealedKeyTests.place()
        if Vectors.writes, try Vectors.content(name) == nil {
            let key = try SealedKey(
                sealing: Self.pem, at: place, with: secret)
            try Vectors.expect(
                name,
                [
                    "format": "A private key sealed with AES-256-GCM: nonce, ciphertext, tag. "
                        + "docs/server/backup.md says how the key and the associated data are made.",
                    "secretFile": String(decoding: secret.fileContent, as: UTF8.self),
                    "secretID": Hex.encode(secret.id),
                    "associatedData": String(decoding: SealedKey.associated(place, key.publicKey), as: UTF8.self),
                    "publicKey": Base64.encode(key.publicKey), "sealed": Base64.encode(key.sealed), "opened": Self.pem,
                ])
        }
        let vector = try #require(try Vectors.content(name) as? [String: String])
        func bytes(_ field: String) -> [UInt8] { Base64.decode((vector[field] ?? "").utf8) ?? [] }
        let key = SealedKey(
            place: place, publicKey: bytes("publicKey"), secretID: secret.id, sealed: bytes("sealed"))
        #expect(try key.opened(with: SigningSecret(fileContent: Array((vector["secretFile"] ?? "").utf8))) == Self.pem)
        #expect(vector["secretID"] == Hex.encode(secret.id))
        #expect(vector["associatedData"] == String(decoding: SealedKey.associated(place, key.publicKey), as: UTF8.self))
    }

    /// The private key of vector 2 of FORMATS.md, which is public.
    static let pem = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgTqkO8z2fD4uCLn0S
        5IwbK0y8UN24cOVean+ndd3YiSqhRANCAAQt5FfTiA5zLlaAnQ0fZxAPyYnSS00w
        y7kgNk0mbBoDg0rIX22YN9TEvdFgvx3W1PwOVi+Rpsg5BP4pLOiDb/lx
        -----END PRIVATE KEY-----

        """
}
