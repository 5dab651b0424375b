import Crypto
import CryptoExtras
import Holdfast
import HoldfastSigning
import Testing

@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("Sealed keys")
struct SealedKeyTests {
    static func secret(_ byte: UInt8 = 1) -> SigningSecret {
        var generator = RepeatedByte(byte: byte)
        return SigningSecret(using: &generator)
    }

    static func place(
        _ id: String = "key-1", _ purpose: SealedKey.Purpose = .fingerprints, app: String = "bank", server: UInt8 = 0xA0
    ) throws -> SealedKey.Place {
        try SealedKey.Place(server: Story.id(server), app: AppName(app), id: id, purpose: purpose)
    }

    @Test("Keys of every kind open with their secret, and give the public key beside them")
    func kinds() throws {
        let pems = [
            SigningKey().pem, P384.Signing.PrivateKey().pemRepresentation,
            try #require(TUFSigningKey(.ed25519).pem),
            try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation,
        ]
        for pem in pems {
            let key = try SealedKey(sealing: pem, at: Self.place(), with: Self.secret())
            #expect(try key.opened(with: Self.secret()) == pem)
            #expect(key.sealed.count == pem.utf8.count + 28)
            expectError(.sealedKey) { try key.opened(with: Self.secret(2)) }
        }
        expectError(.invalidValue) { try SealedKey(sealing: "no key", at: Self.place(), with: Self.secret()) }
    }

    @Test("A sealed key does not open in another place: server, app, id, purpose, public key")
    func moved() throws {
        let key = try SealedKey(sealing: SigningKey().pem, at: Self.place(), with: Self.secret())
        let other = try SealedKey(sealing: SigningKey().pem, at: Self.place(), with: Self.secret())
        let places = try [
            Self.place("key-2"), Self.place(app: "bank2"), Self.place(server: 0xA1), Self.place("key-1", .timestamp),
        ]
        for place in places {
            let moved = SealedKey(place: place, publicKey: key.publicKey, secretID: key.secretID, sealed: key.sealed)
            expectError(.sealedKey) { try moved.opened(with: Self.secret()) }
        }
        // The sealed bytes of two rows swapped, and the public keys.
        let swapped = SealedKey(
            place: key.place, publicKey: key.publicKey, secretID: key.secretID, sealed: other.sealed)
        expectError(.sealedKey) { try swapped.opened(with: Self.secret()) }
        let renamed = SealedKey(
            place: key.place, publicKey: other.publicKey, secretID: key.secretID, sealed: key.sealed)
        expectError(.sealedKey) { try renamed.opened(with: Self.secret()) }
    }

    @Test("A key that was sealed for the public key of another is refused after it opens")
    func foreignPublicKey() throws {
        let (own, foreign) = (SigningKey(), try SealedKey.publicKey(of: SigningKey().pem))
        let place = try Self.place()
        let box = try AES.GCM.seal(
            Array(own.pem.utf8), using: Self.secret().sealingKey,
            authenticating: SealedKey.associated(place, foreign))
        let key = SealedKey(
            place: place, publicKey: foreign, secretID: Self.secret().id, sealed: Array(try #require(box.combined)))
        let error = expectError(.sealedKey) { try key.opened(with: Self.secret()) }
        #expect(error?.found == "that of another")
    }

    @Test("No byte of a sealed key can be changed")
    func changed() throws {
        let key = try SealedKey(sealing: SigningKey().pem, at: Self.place(), with: Self.secret())
        for index in key.sealed.indices {
            var sealed = key.sealed
            sealed[index] ^= 1
            let changed = SealedKey(
                place: key.place, publicKey: key.publicKey, secretID: key.secretID, sealed: sealed)
            expectError(.sealedKey) { try changed.opened(with: Self.secret()) }
        }
        for sealed in [[], Array(key.sealed.prefix(20)), key.sealed + [0]] {
            let cut = SealedKey(place: key.place, publicKey: key.publicKey, secretID: key.secretID, sealed: sealed)
            expectError(.sealedKey) { try cut.opened(with: Self.secret()) }
        }
    }

    @Test("A secret is in no text of its values, and its id says nothing of it")
    func texts() throws {
        let secret = Self.secret(0x41)
        let line = String(decoding: secret.fileContent, as: UTF8.self)
        #expect(try SigningSecret(fileContent: secret.fileContent).fileContent == secret.fileContent)
        #expect("\(secret)" == "a secret")
        #expect(secret.id.count == 8)
        #expect(!line.contains(Base64.encode(secret.id)))
        for content in [
            "", "x", line + "\n", String(line.dropLast()), line.replacing("v1", with: "v2"), line.uppercased(),
        ] {
            expectError(.secretFile) { try SigningSecret(fileContent: Array(content.utf8)) }
        }
    }
}
