import Foundation

@testable import Holdfast

/// Reads a certificate and all its parts that are otherwise read only when a rule needs them.
func examineCertificate(_ input: [UInt8]) {
    guard let certificate = try? X509Certificate(der: input) else { return }
    readEverything(of: certificate)
    require(certificate.der == input, "a certificate is the octets it was read from")
    let found = try? SubjectPublicKeyInfo(certificateDER: input)
    require(found?.der == certificate.subjectPublicKeyInfo, "both readers find the same key")
    require((try? Pin.publicKey(of: input)) == certificate.publicKeyPin, "both readers give the same pin")
    require((try? X509Certificate(der: input + [0])) == nil, "nothing may follow a certificate")
}

func readEverything(of certificate: X509Certificate) {
    _ = try? certificate.basicConstraints
    _ = try? certificate.keyUsage
    _ = try? certificate.extendedKeyUsage
    _ = try? certificate.subjectAltName
    _ = certificate.subjectKeyIdentifier
    _ = certificate.authorityKeyIdentifier
    var work = 0
    _ = CertificateDistributionPoints(of: certificate, work: &work)
    _ = try? PolicyExtensions(of: certificate)
    _ = certificate.keyKind?.description
    _ = certificate.signatureAlgorithm.description
    for name in certificate.subjectAlternativeNames {
        require(name.description.utf8.count < 65_536, "a name prints in bounded length")
    }
    _ = certificate.certificatePin
    for name in [certificate.subject, certificate.issuer] {
        require(name.description.utf8.count < 65_536, "a name prints in bounded length")
        _ = name.commonName
        _ = name.folded
        require(name.matches(name), "a name is itself")
    }
    if let key = try? certificate.publicKey {
        require(
            (try? SubjectPublicKeyInfo(der: Array(certificate.subjectPublicKeyInfo))) != nil,
            "a key that is read stands alone as well")
        let der = certificate.layout.der
        _ = key.verifies(
            der[certificate.layout.signature], over: der[certificate.layout.toBeSigned],
            with: certificate.layout.signatureAlgorithm)
    }
    var limits = ValidationLimits()
    limits.nameConstraintComparisons = 10_000
    var meter = WorkMeter(limits)
    if let read = try? certificate.nameConstraints,
        let names = (try? ConstrainedName.all(of: certificate, meter: &meter)) ?? nil,
        let constraints = NameConstraintCheck.Constraints(read, meter: &meter)
    {
        _ = NameConstraintCheck(constraints: constraints).check(names, meter: &meter)
        require(meter.effort.nameConstraintComparisons <= 10_000, "the budget is kept")
        require(meter.effort.work <= limits.work, "all work together is within the budget")
    }
}

func examinePublicKeyInfo(_ input: [UInt8]) {
    if let key = try? CertificatePublicKey(0..<input.count, of: input) {
        require((try? SubjectPublicKeyInfo(der: input)) != nil, "what is read in detail is read in outline")
        _ = key.kind.description
        require(key.verificationWork >= 0, "work is counted")
        let message: [UInt8] = [1, 2, 3]
        for algorithm in [CertificateSignatureAlgorithm.rsaPKCS1(.sha256), .rsaPSS(.sha384), .ecdsa(.sha512), .ed25519]
        {
            require(
                key.verifies(input.prefix(64), over: message[...], with: algorithm) != true,
                "no key verifies what nobody signed")
        }
    }
    if let info = try? SubjectPublicKeyInfo(der: input) {
        require(Array(info.der) == input, "a key is the octets it was read from")
        _ = info.keyKind?.description
        require(info.sha256Pin == (try? Pin.publicKey(spkiDER: input)), "one key, one pin")
    }
    if let found = try? SubjectPublicKeyInfo(certificateDER: input) {
        require(found.der.startIndex >= 0 && found.der.endIndex <= input.count, "a key lies within the certificate")
        require(found.der.first == 0x30, "a key is a SEQUENCE")
    }
    if let request = try? CertificateRequest(der: input) { _ = request.subject.description }
}

func examineCertificateFile(_ input: [UInt8]) {
    let data = Data(input)
    let blocks = CertificateFile.blocks(of: data)
    require(blocks.count <= input.count + 1, "blocks are counted by their octets")
    guard let certificates = try? CertificateFile.certificates(in: data, named: "input") else { return }
    require(certificates.count == blocks.count, "no block of a file is dropped in silence")
    for certificate in certificates { readEverything(of: certificate) }
}

func examineRevocationList(_ input: [UInt8]) {
    guard let list = try? CertificateRevocationList(der: input) else { return }
    require(list.der == input, "a list is the octets it was read from")
    require(list.count <= input.count, "entries are counted by their octets")
    _ = list.issuer.description
    _ = list.lists([1, 2, 3])
    let scene = ChainScene.shared
    require(
        scene.isAccepted(with: .crls([list])) || scene.issuers.contains { $0.matches(list.issuer) },
        "a list of another issuer says nothing")
}
