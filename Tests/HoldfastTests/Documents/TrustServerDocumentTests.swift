import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Trust-server documents")
struct TrustServerDocumentTests {
    private let fixture: TrustServerFixture

    init() throws { fixture = try TrustServerFixture() }

    private func document(_ text: String, limits: DocumentLimits = DocumentLimits()) throws -> TrustServerDocument {
        try fixture.document(try fixture.message(text).der(), limits: limits)
    }

    private func refusal(_ text: String, limits: DocumentLimits = DocumentLimits()) throws -> DocumentError? {
        do {
            _ = try document(text, limits: limits)
            return nil
        } catch {
            return error as? DocumentError
        }
    }

    private static let realFile = "gcx/gcx-valid.json.signed"

    @Test("The real document of 2017 verifies where SHA-1 is allowed", .needs(.interopData(realFile)))
    func real() throws {
        let data = try Data(contentsOf: try #require(InteropData.file(Self.realFile)))
        let certificates = try CertificateFile.certificates(
            in: Data(contentsOf: try #require(InteropData.file("gcx/signer.pem"))), named: "signer.pem")
        let signer = try TrustServerSigner(certificate: Data(try #require(certificates.first).der))
        let time = Date(timeIntervalSince1970: 2_119_685_700)
        let document = try TrustServerDocument(
            verifying: data, by: signer, customer: "gcx", at: time, allowsLegacyDigests: true)
        #expect(document.timestamp == Date(timeIntervalSince1970: 2_119_685_607))
        let entry = try #require(document.entries.first)
        #expect(entry.hostname == "grandcentrix.net" && entry.port == 443)
        let chain = ["gcx-wildcard-valid", "gcx-DigiCertCA", "gcx-TrustedRoot"].compactMap {
            InteropData.file("gcx/\($0).cer").flatMap { try? X509Certificate(der: [UInt8](Data(contentsOf: $0))) }
        }
        #expect(chain.count == 3)
        // Of a certificate of that host that is not among the files.
        let fingerprint = try Pin("cert-sha256/a51c532d960cbbf63fdbfb3bf3e4b2816e2b902914a20a87541fdab72f7ae081")
        #expect(entry.certificatePins == [fingerprint])
        #expect(entry.publicKeyPins.contains { pin in chain.contains { $0.publicKeyPin == pin } })

        #expect(throws: DocumentError(.legacyDigest, expected: "", found: "")) {
            try TrustServerDocument(verifying: data, by: signer, customer: "gcx", at: time)
        }
        #expect(throws: DocumentError(.untrustedSigner, expected: "", found: "")) {
            try fixture.document(data, at: time, allowsLegacyDigests: true)
        }
    }

    @Test("Pins are those of the certificate and of the key as they stand there")
    func pins() throws {
        let host = try TestAuthority.root().leaf(names: ["www.example.com"])
        let certificate = try X509Certificate(der: host.der)
        let digits = certificate.certificatePin.description.dropFirst("cert-sha256/".count)
        let key = Data(certificate.subjectPublicKeyInfo).base64EncodedString()
        let text = fixture.text(
            #"{"hostname":"www.example.com","port":"443","fp":["\#(digits.uppercased())"],"pk":["\#(key)"]}"#)
        let entry = try #require(try document(text).entries.first)
        #expect(entry.certificatePins == [certificate.certificatePin])
        #expect(entry.publicKeyPins == [certificate.publicKeyPin])
    }

    @Test(
        "A port is a number or its digits, null or absent",
        arguments: [
            (#""port":"443","#, 443), (#""port":8443,"#, 8_443), (#""port":null,"#, nil), ("", nil),
            (#""port":"65535","#, 65_535), (#""port":1,"#, 1),
        ] as [(String, Int?)])
    func ports(field: String, expected: Int?) throws {
        let entries = try document(fixture.text(#"{"hostname":"a",\#(field)"fp":[],"pk":[]}"#)).entries
        #expect(entries.map(\.port) == [expected])
    }

    @Test(
        "What is no port is refused",
        arguments: [
            #""""#, #""0""#, #""0443""#, #""65536""#, #""-1""#, #""+1""#, #""443 ""#, #""４４３""#, "0", "65536", "-1",
            "443.0",
            "true", "[]", #""99999999999999999999""#,
        ])
    func noPorts(value: String) throws {
        let error = try refusal(fixture.text(#"{"hostname":"a","port":\#(value),"fp":[],"pk":[]}"#))
        #expect(error?.field == "port")
        #expect(error?.entry == 0)
    }

    @Test("A host may stand there with several ports, and pins may be none")
    func hosts() throws {
        let one = #"{"hostname":"a","port":"443","fp":[],"pk":[]}"#
        let two = #"{"hostname":"a","port":"8443","fp":["\#(TrustServerFixture.hexadecimal)"],"pk":[]}"#
        let entries = try document(fixture.text("\(one),\(two)")).entries
        #expect(entries.map(\.port) == [443, 8_443])
        #expect(entries.map(\.certificatePins.count) == [0, 1])
        #expect(try document(fixture.text("")).entries.isEmpty)
    }

    @Test(
        "A fingerprint is 64 hexadecimal digits",
        arguments: [
            "", "a5", String(repeating: "a5", count: 31) + "a", String(repeating: "a5", count: 33),
            String(repeating: "g5", count: 32), "a5:" + String(repeating: "a5", count: 30) + "a",
            String(repeating: " ", count: 64), String(repeating: "é", count: 32),
        ])
    func fingerprints(text: String) throws {
        let error = try refusal(fixture.text(#"{"hostname":"a","fp":["\#(text)"],"pk":[]}"#))
        #expect(error?.code == .invalidValue)
        #expect(error?.field == "fp")
    }

    @Test("A key is the canonical Base64 of one SubjectPublicKeyInfo")
    func keys() throws {
        let der = Data(fixture.certificate.key.subjectPublicKeyInfoDER)
        for octets in [Data(), Data([0x30, 0]), der + [0], der.dropLast(), Data(fixture.certificate.der)] {
            let error = try refusal(
                fixture.text(#"{"hostname":"a","fp":[],"pk":["\#(octets.base64EncodedString())"]}"#))
            #expect(error?.code == .invalidValue)
            #expect(error?.field == "pk")
        }
        for text in [der.base64EncodedString() + "\\n", "MIIB", "A", "===="] {
            let error = try refusal(fixture.text(#"{"hostname":"a","fp":[],"pk":["\#(text)"]}"#))
            #expect(error != nil)
        }
    }

    @Test(
        "What must be there must be there, once, and of its type",
        arguments: [
            (#"{"hashes":[],"timestamp":1}"#, .missingField), (#"{"customer":"gcx","timestamp":1}"#, .missingField),
            (#"{"customer":"gcx","hashes":[]}"#, .missingField), ("{}", .missingField), ("", .wrongType),
            (#"{"customer":"gcx","hashes":{},"timestamp":1}"#, .wrongType),
            (#"{"customer":1,"hashes":[],"timestamp":1}"#, .wrongType),
            (#"{"customer":"gcx","hashes":[],"timestamp":"1"}"#, .wrongType),
            (#"{"customer":"gcx","hashes":[],"timestamp":1.0}"#, .notAnInteger),
            (#"{"customer":"gcx","hashes":[],"timestamp":1e3}"#, .notAnInteger),
            (#"{"customer":"gcx","hashes":[],"timestamp":-1}"#, .invalidValue),
            (#"{"customer":"gcx","hashes":[],"timestamp":9007199254740993}"#, .notAnInteger),
            (#"{"customer":"gcx","customer":"gcx","hashes":[],"timestamp":1}"#, .duplicateKey),
            (#"{"customer":"gcx","hashes":[],"timestamp":1}x"#, .notJSON),
            (#"{"customer":"gcx","hashes":[{"fp":[],"pk":[]}],"timestamp":1}"#, .missingField),
            (#"{"customer":"gcx","hashes":[{"hostname":"a","pk":[]}],"timestamp":1}"#, .missingField),
            (#"{"customer":"gcx","hashes":[{"hostname":"a","fp":[]}],"timestamp":1}"#, .missingField),
            (#"{"customer":"gcx","hashes":[{"hostname":"","fp":[],"pk":[]}],"timestamp":1}"#, .invalidValue),
        ] as [(String, DocumentError.Code)])
    func strict(text: String, code: DocumentError.Code) throws {
        #expect(try refusal(text)?.code == code)
    }

    @Test("Fields that are not known are skipped, but read as strictly")
    func unknownFields() throws {
        #expect(try document(fixture.text(more: #","next":{"a":[1]}"#)).customer == "gcx")
        #expect(try refusal(fixture.text(more: #","next":{"a":1,"a":2}"#))?.code == .duplicateKey)
    }

    @Test("The document of another customer is refused")
    func customer() throws {
        for other in ["gcy", "GCX", "", "gcx "] {
            #expect(try refusal(fixture.text(customer: other))?.code == .wrongCustomer)
        }
    }

    @Test(
        "How far ahead or behind a timestamp may be says the store",
        arguments: [0, 1, 1_900_000_000_000, 1 << 53 - 1] as [Int64])
    func timestamps(seconds: Int64) throws {
        let read = try document(fixture.text(timestamp: seconds))
        #expect(read.timestamp == Date(timeIntervalSince1970: Double(seconds)))
    }

    @Test("A customer is compared octet by octet, and none is longer than 256")
    func customerOctets() throws {
        let composed = try fixture.message(fixture.text(customer: "\u{E9}")).der()
        #expect(throws: DocumentError(.wrongCustomer, expected: "", found: "")) {
            try TrustServerDocument(verifying: composed, by: fixture.signer, customer: "e\u{301}", at: fixture.now)
        }
        #expect(try refusal(fixture.text(customer: String(repeating: "g", count: 257)))?.code == .textTooLong)
        #expect(try refusal(fixture.text(customer: String(repeating: "g", count: 256)))?.code == .wrongCustomer)
    }

    @Test("That the configured certificate has expired is reported and does not reject")
    func expired() throws {
        let data = try fixture.message().der()
        let end = try X509Certificate(der: fixture.certificate.der).validityEnd
        #expect(try fixture.document(data, at: end - 0.5).signerExpired == nil)
        #expect(try fixture.document(data, at: end).signerExpired == end)
    }

    @Test("Bytes, entries and pins of a host are bounded")
    func limits() throws {
        let data = try fixture.message().der()
        #expect(throws: DocumentError(.tooLarge, expected: "", found: "")) {
            try fixture.document(data, limits: DocumentLimits(bytes: data.count - 1))
        }
        let two = fixture.text("\(fixture.entry),\(fixture.entry)")
        #expect(try refusal(two, limits: DocumentLimits(entries: 1))?.code == .tooManyEntries)
        #expect(try refusal(two, limits: DocumentLimits(entries: 2)) == nil)
        let pins = [String](repeating: "\"\(TrustServerFixture.hexadecimal)\"", count: 257).joined(separator: ",")
        #expect(try refusal(fixture.text(#"{"hostname":"a","fp":[\#(pins)],"pk":[]}"#))?.code == .tooManyEntries)
    }
}
