import Holdfast
import HoldfastSigning
import Testing

@Suite("Certification requests")
struct CertificateRequestDraftTests {
    @Test("A request is read back with its key, and is signed with it")
    func readBack() throws {
        let key = SigningKey()
        let draft = try CertificateRequestDraft(names: [HostPattern("www.example.com"), HostPattern("*.example.com")])
        let request = try CertificateRequest(der: Array(draft.signed(by: key)))
        #expect(request.signatureCheck == .valid)
        #expect(request.subject.description == "CN=www.example.com")
        #expect(request.dnsNames == ["www.example.com", "*.example.com"])
        #expect(try request.subjectPublicKeyInfo.sha256Pin == key.pin)
    }

    @Test("Addresses among the names are passed over, and a request without names has none")
    func otherNames() throws {
        let draft = try CertificateRequestDraft(
            names: [HostPattern("192.0.2.1"), HostPattern("www.example.com"), HostPattern("2001:db8::1")])
        let der = try Array(draft.signed(by: SigningKey()))
        #expect(try CertificateRequest(der: der).dnsNames == ["www.example.com"])
        let address = try CertificateRequestDraft(names: [HostPattern("192.0.2.1")])
        #expect(try CertificateRequest(der: Array(address.signed(by: SigningKey()))).dnsNames == [])
        // Unreadable names count as none, and the key is read all the same.
        let name = Array("www.example.com".utf8)
        let start = try #require(der.indices.last { der[$0...].starts(with: name) })
        var damaged = der
        damaged[start - 2] = 0x1F
        #expect(try CertificateRequest(der: damaged).dnsNames == [])
    }

    @Test("A name that is too long for a common name stands in subjectAltName alone")
    func longName() throws {
        let name = (0..<4).map { "\($0)" + String(repeating: "x", count: 30) }.joined(separator: ".") + ".example.com"
        let draft = try CertificateRequestDraft(names: [HostPattern(name)])
        let der = try Array(draft.signed(by: SigningKey()))
        #expect(try CertificateRequest(der: der).subject.description == "(empty name)")
        #expect(String(decoding: der, as: UTF8.self).contains(name))
    }

    @Test("No names, too many, and a subtree, which no certificate has, are refused")
    func refused() throws {
        let host = try HostPattern("www.example.com")
        for names in [[], Array(repeating: host, count: 101), [try HostPattern("**.example.com")]] {
            let error = #expect(throws: SigningError.self) { try CertificateRequestDraft(names: names) }
            #expect(error?.code == .invalidRequest)
        }
    }
}
