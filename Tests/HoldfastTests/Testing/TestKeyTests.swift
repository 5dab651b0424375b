import HoldfastTesting
import Testing

@Suite("Keys of the test kit", .timeLimit(.minutes(15)))
struct TestKeyTests {
    @Test("A shared RSA key is the same for everyone, another index another key")
    func shared() async throws {
        let choice = TestKey.Choice.sharedRSA(bits: 1024, index: 100)
        let keys = try await withThrowingTaskGroup(of: TestKey.self) { group in
            for _ in 0..<8 { group.addTask { try TestKey(choice) } }
            return try await group.reduce(into: Set<TestKey>()) { $0.insert($1) }
        }
        #expect(keys.count == 1)
        #expect(try TestKey(.sharedRSA(bits: 1024, index: 101)) != keys.first)
        #expect(try TestKey(.rsa(bits: 1024)) != TestKey(.rsa(bits: 1024)))
    }

    @Test("A key refuses a signature of another kind")
    func refusal() throws {
        let error = #expect(throws: TestKitError.self) {
            try TestAuthority.root(key: .p256) { $0.signature = .rsaPSS(.sha256) }
        }
        #expect(error?.code == .signatureDoesNotFitKey)
        let size = #expect(throws: TestKitError.self) { try TestKey(.rsa(bits: 512)) }
        #expect(size?.code == .keyGenerationFailed)
    }

    @Test(
        "A name that reads as an address is one",
        arguments: [
            ("127.0.0.1", [127, 0, 0, 1]), ("::1", [UInt8](repeating: 0, count: 15) + [1]),
            ("2001:db8::ff:7", [0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0, 7]),
            ("::ffff:10.0.0.1", [UInt8](repeating: 0, count: 10) + [255, 255, 10, 0, 0, 1]),
            ("256.0.0.1", nil), ("1.2.3", nil), ("1:2:3", nil), ("www.example.com", nil), (":::", nil),
        ] as [(String, [UInt8]?)])
    func addresses(text: String, octets: [UInt8]?) {
        #expect(TestGeneralName(text) == octets.map(TestGeneralName.address) ?? .dns(text))
    }
}
