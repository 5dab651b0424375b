import Crypto
import Foundation
import Holdfast
import HoldfastSigning
import Testing

@testable import HoldfastPublishing

@Suite("Keys of a repository that are elsewhere")
struct ElsewhereKeyTests {
    private let online = TUFSigningKey()

    @Test("A key that is elsewhere signs through what is given for it; what does not verify is refused")
    func elsewhere() throws {
        struct Gone: Error {}
        let here = TUFSigningKey()
        let message = Array("message".utf8)
        let signature = try here.signature(for: message)
        let p256 = try P256.Signing.ECDSASignature(derRepresentation: signature)
        for form in [signature, Array(p256.rawRepresentation)] {
            let there = TUFSigningKey(publicKey: here.publicKey) { $0 == message ? form : [] }
            #expect(try there.signature(for: message) == signature)
            #expect(there.pem == nil && there.publicKeyText == nil)
            #expect(throws: SigningError.self) { try there.signature(for: [1]) }
        }
        var state = try TUFRepositoryState(
            roles: [
                .root: TUFRoleKeys([here.publicKey]), .targets: TUFRoleKeys([here.publicKey]),
                .snapshot: TUFRoleKeys([online.publicKey]), .timestamp: TUFRoleKeys([online.publicKey]),
            ], at: SystemWallClock().now)
        #expect(state.publicKeys(of: [.root, .targets]) == [here.publicKey])
        #expect(state.publicKeys(of: [.timestamp]).map(\.id) == [online.publicKey.id])
        let gone: @Sendable ([UInt8]) throws -> [UInt8] = { _ in throw Gone() }
        let wrong: @Sendable ([UInt8]) throws -> [UInt8] = { _ in signature }
        for (sign, code) in [(gone, TUFRepositoryError.Code.signerFailed), (wrong, .wrongSignature)] {
            do throws(TUFRepositoryError) {
                _ = try state.sign(by: TUFSigningKey(publicKey: here.publicKey, signing: sign))
                Issue.record("it signed")
            } catch {
                #expect(error.code == code)
            }
        }
        #expect(try state.progress().allSatisfy { $0.signed.isEmpty })
        #expect(try state.sign(by: TUFSigningKey(publicKey: here.publicKey) { try here.signature(for: $0) }) == [.root])
    }
}
