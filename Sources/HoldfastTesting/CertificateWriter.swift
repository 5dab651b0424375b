import Foundation

/// Encodes and signs one certificate (RFC 5280 4.1).
struct CertificateWriter {
    let specification: CertificateSpecification
    let key: TestKey
    let issuer: TestName
    let signer: TestKey
    /// The key identifier in the signer's certificate; nil if it has none.
    let signerKeyIdentifier: [UInt8]?
    let now: Date

    /// The key identifier of the certificate itself; nil if it has none.
    var subjectKeyIdentifier: [UInt8]? {
        switch specification.subjectKeyIdentifier {
        case .automatic: key.keyIdentifier
        case .absent: nil
        case .octets(let octets): octets
        }
    }

    func write() throws(TestKitError) -> [UInt8] {
        var signer = signer
        for case .signedBy(let other) in specification.faults { signer = other }
        let algorithm = specification.signature.resolved(for: signer.kind)
        var (inner, outer) = (algorithm, algorithm)
        for fault in specification.faults {
            switch fault {
            case .innerSignatureAlgorithm(let other): inner = other.resolved(for: signer.kind)
            case .outerSignatureAlgorithm(let other): outer = other.resolved(for: signer.kind)
            default: break
            }
        }

        let serial = specification.serial ?? Self.randomSerial()
        var content = signedContent(algorithm: inner, serial: serial, timestamps: [])
        if !specification.timestamps.isEmpty {
            // Logs sign the certificate as it is without their timestamps (RFC 6962 3.2).
            let issuerKey = self.signer.subjectPublicKeyInfoDER
            var timestamps: [[UInt8]] = []
            for one in specification.timestamps {
                timestamps.append(try one.encoded(for: content, issuerKey: issuerKey, now: now))
            }
            content = signedContent(
                algorithm: inner, serial: serial, timestamps: [TestTimestamp.extension(of: timestamps)])
        }
        for case .signedContent(let change) in specification.faults { content = change(content) }
        var signature = try signer.signature(of: content, by: algorithm)
        for fault in specification.faults {
            switch fault {
            case .contentAfterSigning(let change): content = change(content)
            case .flippedSignatureBit: signature[signature.count / 2] ^= 0x10
            default: break
            }
        }
        return damaged(
            TestDER.sequence([content, outer.algorithmIdentifier, TestDER.bitString(signature)]))
    }

    private func signedContent(algorithm: TestSignature, serial: [UInt8], timestamps: [TestExtension]) -> [UInt8] {
        let extensions = self.extensions(timestamps: timestamps)
        let version = TestDER.context(0, constructed: TestDER.integer(specification.version - 1))
        let list = TestDER.context(3, constructed: TestDER.sequence(extensions.map(\.der)))
        return TestDER.sequence(
            // Version 1 is the default, and DER omits defaults.
            (specification.version == 1 ? [] : [version]) + [
                TestDER.integer(octets: serial),
                algorithm.algorithmIdentifier,
                (specification.issuer ?? issuer).der,
                TestDER.sequence([specification.notBefore.der(now: now), specification.notAfter.der(now: now)]),
                specification.subject.der,
                specification.subjectPublicKeyInfo ?? key.subjectPublicKeyInfoDER,
            ] + (extensions.isEmpty ? [] : [list]))
    }

    private func extensions(timestamps: [TestExtension]) -> [TestExtension] {
        let authority: [UInt8]? =
            switch specification.authorityKeyIdentifier {
            case .automatic: signerKeyIdentifier
            case .absent: nil
            case .octets(let octets): octets
            }
        var list = specification.encodedExtensions(
            subjectKeyIdentifier: subjectKeyIdentifier, signerKeyIdentifier: authority)
        list += timestamps
        for fault in specification.faults {
            switch fault {
            case .extensions(let change): change(&list)
            case .extensionContent(let identifier, let value):
                for index in list.indices where list[index].identifier == identifier { list[index].value = value }
            case .duplicatedExtension(let identifier): list += list.filter { $0.identifier == identifier }
            default: break
            }
        }
        return list
    }

    private func damaged(_ certificate: [UInt8]) -> [UInt8] {
        var certificate = certificate
        for fault in specification.faults {
            switch fault {
            case .truncated(let count): certificate.removeLast(max(0, min(count, certificate.count)))
            case .trailingBytes(let bytes): certificate += bytes
            default: break
            }
        }
        return certificate
    }

    private static func randomSerial() -> [UInt8] {
        // 0x40 keeps the number positive and its encoding 16 bytes long.
        [UInt8.random(in: 0x40...0x7F)] + (1..<16).map { _ in UInt8.random(in: .min ... .max) }
    }
}
