import Testing

@testable import Holdfast

@Suite("SubjectPublicKeyInfo")
struct SubjectPublicKeyInfoTests {
    private func error(_ der: [UInt8]) -> CertificateError? {
        do throws(CertificateError) {
            _ = try SubjectPublicKeyInfo(certificateDER: der)
            return nil
        } catch { return error }
    }

    @Test("The key is found with and without a version, and its octets are exact")
    func found() throws {
        let key = HandMadeDER.key([UInt8](repeating: 5, count: 300))
        for version in [[], HandMadeDER.version3] {
            let certificate = HandMadeDER.certificate(version: version, key: key)
            let found = try SubjectPublicKeyInfo(certificateDER: certificate)
            #expect(Array(found.der) == key)
            #expect(found == (try SubjectPublicKeyInfo(der: key)))
        }
    }

    @Test("What follows the key does not change it")
    func afterTheKey() throws {
        let bare = try SubjectPublicKeyInfo(certificateDER: HandMadeDER.certificate())
        let extended = HandMadeDER.certificate(afterKey: HandMadeDER.element(0xA3, [0xFF, 0xFF, 0xFF]))
        #expect(try SubjectPublicKeyInfo(certificateDER: extended) == bare)
    }

    @Test("A sequence that looks like a key elsewhere is not taken for it")
    func decoy() throws {
        let decoy = HandMadeDER.key([6, 6, 6])
        let certificate = HandMadeDER.certificate(issuer: decoy, subject: decoy)
        #expect(try SubjectPublicKeyInfo(certificateDER: certificate) == SubjectPublicKeyInfo(der: HandMadeDER.key()))
    }

    @Test("An error names the field")
    func fields() {
        #expect(error([])?.field == "certificate")
        #expect(error(HandMadeDER.certificate(serial: []))?.field == "serialNumber")
        #expect(error(HandMadeDER.certificate(serial: []))?.code == .malformedField)
        #expect(error(HandMadeDER.certificate(issuer: HandMadeDER.element(0x31, [])))?.field == "issuer")
        #expect(error(HandMadeDER.certificate(subject: []))?.field == "subjectPublicKeyInfo")
        #expect(error(HandMadeDER.certificate(key: HandMadeDER.element(0x04, [1])))?.field == "subjectPublicKeyInfo")
    }

    @Test("A certificate that is followed by anything is refused")
    func trailing() {
        #expect(error(HandMadeDER.certificate() + [0])?.code == .trailingBytes)
        #expect(error(HandMadeDER.certificate() + HandMadeDER.certificate())?.code == .trailingBytes)
    }

    @Test("Every truncation is refused")
    func truncation() {
        let certificate = HandMadeDER.certificate()
        for count in 0..<certificate.count {
            #expect(error(Array(certificate.prefix(count)))?.code == .notDER, "\(count)")
        }
    }

    @Test("More than 256 KiB are refused unread")
    func size() {
        #expect(error([UInt8](repeating: 0x30, count: CertificateLimits.maximumBytes + 1))?.code == .tooLarge)
        #expect(error([UInt8](repeating: 0x30, count: CertificateLimits.maximumBytes))?.code != .tooLarge)
    }

    @Test("A key that stands alone is an algorithm and a bit string, and nothing else")
    func alone() {
        let key = HandMadeDER.key()
        let bits = HandMadeDER.element(0x03, [0, 1])
        for wrong in [
            [], key + [0], Array(key.dropLast()), HandMadeDER.sequence(HandMadeDER.algorithm),
            HandMadeDER.sequence(HandMadeDER.algorithm, bits, bits), HandMadeDER.sequence(bits, HandMadeDER.algorithm),
            HandMadeDER.certificate(), [UInt8](repeating: 0, count: CertificateLimits.maximumBytes + 1),
        ] {
            #expect(throws: CertificateError.self) { try SubjectPublicKeyInfo(der: wrong) }
        }
    }
}
