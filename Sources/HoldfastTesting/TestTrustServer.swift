package import Foundation
package import Holdfast

/// Signs documents as a trust server does: a CMS SignedData with its content attached and without signed attributes
/// (RFC 5652 5). This is the smallest possible form, and no code of the library writes it.
package struct TestTrustServer: Sendable {
    /// One host of a document. A port that is nil is omitted.
    package struct Host: Sendable {
        let name: String
        let port: Int?
        let certificates: [TestCertificate]

        package init(_ name: String, port: Int? = 443, _ certificates: [TestCertificate]) {
            self.name = name
            self.port = port
            self.certificates = certificates
        }
    }

    /// The certificate of the signer, with its P-256 key.
    package let signer: TestCertificate

    /// Makes a signer for a customer.
    package init(customer: TestName = "gcx", clock: any WallClock = SystemWallClock()) throws(TestKitError) {
        signer = try TestAuthority.root(name: customer, clock: clock).certificate
    }

    /// The certificate that an application ships with.
    package var certificate: Data { Data(signer.der) }

    /// Makes a signed document.
    package func document(customer: String = "gcx", at time: Date, _ hosts: [Host]) throws -> Data {
        try signed(Self.json(customer: customer, at: time, hosts))
    }

    /// The JSON of a document.
    package static func json(customer: String, at time: Date, _ hosts: [Host]) throws -> [UInt8] {
        let entries = try hosts.map { host in
            let fingerprints = host.certificates.map { "\"\(Hexadecimal.encode(Pin.certificate($0.der).digest))\"" }
            let keys = try host.certificates.map {
                "\"\(CanonicalBase64.encode(try X509Certificate(der: $0.der).subjectPublicKeyInfo))\""
            }
            let port = host.port.map { "\"port\":\"\($0)\"," } ?? ""
            return "{\"hostname\":\"\(host.name)\",\(port)\"fp\":[\(fingerprints.joined(separator: ","))],"
                + "\"pk\":[\(keys.joined(separator: ","))]}"
        }
        let seconds = time.wholeSeconds
        return Array(
            "{\"customer\":\"\(customer)\",\"hashes\":[\(entries.joined(separator: ","))],\"timestamp\":\(seconds)}"
                .utf8)
    }

    /// Signs any bytes.
    package func signed(_ content: [UInt8]) throws -> Data {
        let certificate = try X509Certificate(der: signer.der)
        let sha256 = TestDER.sequence([TestDER.objectIdentifier([2, 16, 840, 1, 101, 3, 4, 2, 1])])
        let ecdsa = TestDER.sequence([TestDER.objectIdentifier([1, 2, 840, 10045, 4, 3, 2])])
        let signerInfo = TestDER.sequence([
            TestDER.integer(1),
            TestDER.sequence([
                Array(certificate.issuer.der), TestDER.integer(octets: Array(certificate.serialNumber)),
            ]),
            sha256, ecdsa, TestDER.octetString(try signer.key.signature(of: content)),
        ])
        let signedData = TestDER.sequence([
            TestDER.integer(1), TestDER.set([sha256]),
            TestDER.sequence([
                TestDER.objectIdentifier([1, 2, 840, 113549, 1, 7, 1]),
                TestDER.context(0, constructed: TestDER.octetString(content)),
            ]),
            TestDER.set([signerInfo]),
        ])
        return Data(
            TestDER.sequence([
                TestDER.objectIdentifier([1, 2, 840, 113549, 1, 7, 2]), TestDER.context(0, constructed: signedData),
            ]))
    }
}
