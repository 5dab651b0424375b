import Crypto
import Testing

@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport

@Suite("Keys of passkeys")
struct COSEKeyTests {
    @Test("A key of ES256 and one of EdDSA are the people that their SubjectPublicKeyInfo says")
    func identities() throws {
        let scalar = [UInt8](repeating: 0, count: 31) + [21]
        let p256 = try P256.Signing.PrivateKey(rawRepresentation: scalar).publicKey
        #expect(try SoftPasskey().key.subjectPublicKeyInfo == Array(p256.derRepresentation))
        #expect(try SoftPasskey().key.identity == ServerFoundation.Digest(of: p256.derRepresentation))
        #expect(try COSEKey(SoftPasskey().coseKey).algorithm == .es256)
        let ed25519 = try Curve25519.Signing.PrivateKey(rawRepresentation: scalar).publicKey
        #expect(try SoftPasskey.ed25519.key.subjectPublicKeyInfo.suffix(32) == Array(ed25519.rawRepresentation)[...])
        #expect(try COSEKey(SoftPasskey.ed25519.coseKey).algorithm == .edDSA)
    }

    @Test("A key of another kind, with another parameter, or with a point that is none, is refused")
    func refused() throws {
        guard case .map(let es256) = try SoftPasskey().coseKey, case .map(let edDSA) = try SoftPasskey.ed25519.coseKey
        else {
            Issue.record("no maps")
            return
        }
        func with(_ members: [CBORValue.Member], _ key: Int64, _ value: CBORValue?) -> CBORValue {
            let member = value.map { CBORValue.Member(key: .integer(key), value: $0) }
            guard let place = members.firstIndex(where: { $0.key == .integer(key) }) else {
                return .map(members + [member].compactMap(\.self))
            }
            var members = members
            members.replaceSubrange(place...place, with: [member].compactMap(\.self))
            return .map(members)
        }
        let p384 = [UInt8](repeating: 1, count: 48)
        let offCurve = [UInt8](repeating: 7, count: 32)
        let values = [
            with(es256, 1, .integer(3)), with(es256, 1, .integer(1)), with(es256, 3, .integer(-8)),
            with(es256, 3, .integer(-35)), with(es256, 3, .integer(-257)), with(es256, 3, nil),
            with(es256, -1, .integer(2)), with(es256, -2, .bytes(offCurve)), with(es256, -3, .boolean(true)),
            with(es256, -3, nil), with(es256, -2, .bytes(p384)), with(es256, -4, .bytes(offCurve)),
            with(es256, 2, .bytes([1])), with(edDSA, 1, .integer(2)), with(edDSA, 3, .integer(-7)),
            with(edDSA, -1, .integer(4)), with(edDSA, -2, .bytes([UInt8](repeating: 0, count: 32))),
            with(edDSA, -2, .bytes([1] + [UInt8](repeating: 0, count: 31))), with(edDSA, -3, .bytes(offCurve)),
            .map([]), .null, .bytes([4]),
        ]
        for value in values { expectError(.invalidValue) { try COSEKey(value) } }
        for (number, name) in [(Int64(-35), "ES384"), (-257, "RS256"), (-49, "ML-DSA-65")] {
            let error = #expect(throws: ServerError.self) { try COSEKey(with(es256, 3, .integer(number))) }
            #expect(error.map { "\($0)".contains("a key for \(name), which is not supported") } == true)
        }
    }
}
