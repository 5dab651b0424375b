import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@Suite("Documents that a rollover is about")
struct RolloverDocumentTests {
    private static let now = Date(wholeSeconds: 1_800_000_000)

    private static func host(_ name: String, ports: [Int] = []) throws -> PinFile.Host {
        let pin = try Pin(subject: .publicKey, digest: [UInt8](repeating: 1, count: 32))
        return try PinFile.Host(HostPattern(name), ports: ports, pins: [PinFile.KeyPin(pin)])
    }

    @Test("One entry decides about a host as in clients, also about the ports that it does not cover")
    func ports() throws {
        let file = try PinFile(hosts: [
            Self.host("www.example.com", ports: [443]), Self.host("**.example.com"), Self.host("*.example.net"),
        ])
        let document = try RolloverDocument(Data(file.json), named: "bank.pins.json", key: nil)
        #expect(!document.pinsCertificates && document.staleness == nil)
        try document.check(DialedHost("www.example.com", port: 443), at: Self.now)
        try document.check(DialedHost("api.example.com", port: 8_443), at: Self.now)
        for (name, port) in [("www.example.com", 8_443), ("www.example.org", 443)] {
            #expect(throws: PublishingError.self) {
                try document.check(DialedHost(name, port: port), at: Self.now)
            }
        }
        let hosts = document.hosts(defaultPort: 443)
        #expect(try hosts.hosts == [DialedHost("www.example.com", port: 443), DialedHost("example.com", port: 443)])
        #expect(hosts.patterns == ["*.example.net"])
    }

    @Test("A list is read only with its signer's key, and a pin file only without one")
    func kinds() throws {
        let (key, other) = (SigningKey(), SigningKey())
        let pin = try Pin(subject: .certificate, digest: [UInt8](repeating: 1, count: 32))
        let entry = try FingerprintEntry(name: "www.example.com", pin: pin, expires: 1_900_000_000)
        let list = try PinListDraft([entry]).signed(by: key)
        let document = try RolloverDocument(list, named: "pins.json", key: try key.publicKey)
        #expect(document.pinsCertificates && document.staleness == .seconds(7 * 86_400))
        try document.check(DialedHost("www.example.com"), at: Self.now)
        #expect(throws: PublishingError.self) {
            _ = try RolloverDocument(list, named: "pins.json", key: try other.publicKey)
        }
        let error = #expect(throws: PublishingError.self) {
            _ = try RolloverDocument(list, named: "pins.json", key: nil, remedy: "Give the key.")
        }
        #expect(error?.remedy == "Give the key.")
    }
}
