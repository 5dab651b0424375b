import Testing

@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerStore
@testable import ServerWeb

@Suite("The cookie of a challenge")
struct CeremonySealTests {
    private static func secret(_ seed: UInt64) -> SigningSecret {
        var generator = SeededGenerator(seed: seed)
        return SigningSecret(using: &generator)
    }

    private static func ceremony() -> PasskeyCeremony {
        var generator = SeededGenerator(seed: 7)
        return PasskeyCeremony(.signIn(using: &generator), at: Story.now)
    }

    @Test("Servers that share the secret read each other's cookies; another secret or server reads none")
    func sharing() throws {
        let seal = CeremonySeal(Self.secret(1), server: Story.server)
        let ceremony = Self.ceremony()
        let value = seal.value(of: ceremony)
        #expect(value.utf8.count < 256 && ASCIIText.isPrintable(value.utf8, 1...256))
        #expect(CeremonySeal(Self.secret(1), server: Story.server).ceremony(in: value.utf8) == ceremony)
        #expect(CeremonySeal(Self.secret(2), server: Story.server).ceremony(in: value.utf8) == nil)
        var generator = SeededGenerator(seed: 3)
        let other = RandomID(using: &generator)
        #expect(CeremonySeal(Self.secret(1), server: other).ceremony(in: value.utf8) == nil)
        // Without a secret each process has a key of its own.
        let drawn = CeremonySeal(nil, server: Story.server)
        #expect(drawn.ceremony(in: drawn.value(of: ceremony).utf8) == ceremony)
        #expect(CeremonySeal(nil, server: Story.server).ceremony(in: drawn.value(of: ceremony).utf8) == nil)
    }

    @Test("A cookie that was changed anywhere is none: another challenge, purpose, end or code, or one byte")
    func changes() throws {
        let seal = CeremonySeal(Self.secret(1), server: Story.server)
        let value = seal.value(of: Self.ceremony())
        let parts = value.split(separator: ".").map(String.init)
        var generator = SeededGenerator(seed: 9)
        let other = PasskeyChallenge.registration(.signIn, using: &generator)
        for changed in [
            "\(parts[0]).\(Story.now + 1_000_000).\(parts[2])", "\(parts[0]).0\(parts[1]).\(parts[2])",
            "\(Base64URL.encode(other.bytes)).\(parts[1]).\(parts[2])", "\(parts[0]).\(parts[1]).", "..", "",
            "\(value).",
            "\(parts[0]).\(parts[1]).\(parts[2]).x", String(repeating: "A", count: 100_000),
        ] {
            #expect(seal.ceremony(in: changed.utf8) == nil, "\(changed.prefix(300))")
        }
        for index in value.utf8.indices {
            var bytes = Array(value.utf8)
            let place = value.utf8.distance(from: value.utf8.startIndex, to: index)
            bytes[place] = bytes[place] == UInt8(ascii: "B") ? UInt8(ascii: "C") : UInt8(ascii: "B")
            #expect(seal.ceremony(in: bytes) == nil, "\(place)")
        }
    }
}
