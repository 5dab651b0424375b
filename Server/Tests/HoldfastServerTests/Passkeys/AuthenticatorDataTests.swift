import Testing

@testable import ServerApprovals
@testable import ServerFoundation

@Suite("Data of authenticators")
struct AuthenticatorDataTests {
    private static let credProtect = CBORValue.Member(key: .text("credProtect"), value: .unsigned(2))

    @Test("Flags, counter, a new key and extensions are read")
    func whole() throws {
        var passkey = SoftPasskey(flags: [.userPresent, .userVerified, .backupEligible, .backedUp])
        passkey.counter = 0x0102_0304
        let plain = try AuthenticatorData(passkey.data())
        #expect(plain.counter == 0x0102_0304)
        #expect(plain.flags == passkey.flags)
        #expect(plain.credential == nil)
        passkey.extensions = [Self.credProtect]
        let made = try AuthenticatorData(passkey.data(withKey: true))
        #expect(made.credential?.id == passkey.id)
        #expect(try made.credential?.key.key == passkey.key)
        #expect(made.flags.contains([.attested, .extended]))
        // Bits that are reserved decide nothing.
        passkey.flags.formUnion(AuthenticatorData.Flags(rawValue: 0x22))
        #expect(throws: Never.self) { try AuthenticatorData(passkey.data()).require(SoftPasskey.party) }
    }

    @Test("What is cut, longer than it says, or contradicts itself is refused")
    func refused() throws {
        var passkey = SoftPasskey()
        passkey.extensions = [Self.credProtect]
        let whole = try passkey.data(withKey: true)
        for length in whole.indices { expectError(.malformed) { try AuthenticatorData(Array(whole[..<length])) } }
        expectError(.malformed) { try AuthenticatorData(whole + [0]) }
        expectError(.malformed) { try AuthenticatorData(SoftPasskey().data() + [0xA0]) }
        // A new key or extensions that the flags do not announce, and the other way about.
        for flag in [AuthenticatorData.Flags.attested, .extended] {
            var bytes = whole
            bytes[32] ^= flag.rawValue
            #expect(throws: ServerError.self) { try AuthenticatorData(bytes) }
            bytes = try SoftPasskey().data()
            bytes[32] ^= flag.rawValue
            expectError(.malformed) { try AuthenticatorData(bytes) }
        }
        // A key that is on several devices, and must not be.
        expectError(.malformed) {
            try AuthenticatorData(SoftPasskey(flags: [.userPresent, .userVerified, .backedUp]).data())
        }
        for id in [[], [UInt8](repeating: 1, count: 1_024)] {
            expectError(.malformed) { try AuthenticatorData(SoftPasskey(id: id).data(withKey: true)) }
        }
        #expect(throws: Never.self) {
            try AuthenticatorData(SoftPasskey(id: [UInt8](repeating: 1, count: 1_023)).data(withKey: true))
        }
        let extended = try SoftPasskey(flags: [.userPresent, .userVerified, .extended]).data()
        for extensions in [CBORValue.map([]), .array([]), SoftPasskey.map([(1, .unsigned(2))])] {
            expectError(.malformed) { try AuthenticatorData(extended + extensions.bytes) }
        }
    }

    @Test("Data for another name is refused, and so is a passkey that was touched by nobody or by anybody")
    func requirements() throws {
        let party = try SoftPasskey.party
        #expect(throws: Never.self) { try AuthenticatorData(SoftPasskey().data()).require(party) }
        expectError(.notForThis) { try AuthenticatorData(SoftPasskey(partyID: "example.com").data()).require(party) }
        for flags: AuthenticatorData.Flags in [[], [.userPresent], [.userVerified]] {
            expectError(.userNotVerified) { try AuthenticatorData(SoftPasskey(flags: flags).data()).require(party) }
        }
    }
}
