import Foundation
import Testing

@testable import Holdfast

@Suite("Challenge responses")
struct ChallengeResponseTests {
    private static let key = "BC3kV9OIDnMuVoCdDR9nEA/JidJLTTDLuSA2TSZsGgODSshfbZg31MS90WC/HdbU/A5WL5GmyDkE/iks6INv+XE="
    private static let challenge = "AAECAwQFBgcICQoLDA0ODw=="
    private static let body = Data(
        #"{"timestamp":1604853448,"fingerprints":[{"name":"github.com","fingerprint":"kqN/vV4hpTqVxxbhFE9EL1grlND6/Gc+tnF6TrUaiKc=","expires":1710460799}]}"#
            .utf8)
    private static let signature =
        "MEUCIHKWGd7e0+BimAE1nzvrtRP2DbS9YlFv61xmqVzdWh6KAiEAwWbFdkSEXYJ4Zq7S6j3uuUNSiQWy0+8VW3BaU7Xms7Y="

    private func code(
        _ body: Data, _ signature: String, _ challenge: String, key: DocumentPublicKey,
        limits: DocumentLimits = DocumentLimits()
    ) -> DocumentError.Code? {
        do throws(DocumentError) {
            _ = try ChallengeResponse(
                verifying: body, signature: signature, challenge: challenge, by: key, limits: limits)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("The published vector verifies")
    func vector() throws {
        let response = try ChallengeResponse(
            verifying: Self.body, signature: Self.signature, challenge: Self.challenge,
            by: DocumentPublicKey(base64: Self.key))
        #expect(response.issuedAt == Date(timeIntervalSince1970: 1_604_853_448))
        #expect(response.entries.map(\.name) == ["github.com"] && response.entries.first?.expires == 1_710_460_799)
        #expect(response.entries.first?.fingerprint == "kqN/vV4hpTqVxxbhFE9EL1grlND6/Gc+tnF6TrUaiKc=")
        #expect(response.versionCheck == nil && response.domainsConfiguration == nil)
    }

    @Test("An answer to another challenge, a changed body and another key's signature do not verify")
    func replay() throws {
        let key = try DocumentPublicKey(base64: Self.key)
        #expect(code(Self.body, Self.signature, "AAECAwQFBgcICQoLDA0OEA==", key: key) == .invalidSignature)
        #expect(code(Self.body + Data(" ".utf8), Self.signature, Self.challenge, key: key) == .invalidSignature)
        #expect(
            code(Self.body, Self.signature, Self.challenge, key: try DocumentSigner().publicKey) == .invalidSignature)
        #expect(code(Self.body, "AAAA", Self.challenge, key: key) == .invalidSignature)
        #expect(code(Self.body, "not Base64", Self.challenge, key: key) == .notCanonicalBase64)
    }

    @Test("The signature is checked before anything is read")
    func signatureFirst() throws {
        let key = try DocumentPublicKey(base64: Self.key)
        #expect(code(Data("{".utf8), Self.signature, Self.challenge, key: key) == .invalidSignature)
    }

    private func read(_ body: Data, limits: DocumentLimits = DocumentLimits()) throws -> Result<
        ChallengeResponse, DocumentError
    > {
        let signer = DocumentSigner()
        let (signature, key) = (try signer.answer(to: "c", body), try signer.publicKey)
        do throws(DocumentError) {
            return .success(
                try ChallengeResponse(verifying: body, signature: signature, challenge: "c", by: key, limits: limits))
        } catch {
            return .failure(error)
        }
    }

    @Test("Version check and domain configuration are read; both are signed here")
    func moreFields() throws {
        let more =
            #","verifyVersionResult":{"update":"FORCED","message":"Update!"},"domainsConfig":{"sslPinningRequiredForUnlisted":true,"domains":[{"name":"a","sslPinningRequired":false}]}"#
        let response = try read(DocumentSigner.body([], at: 7, more: more)).get()
        #expect(response.versionCheck?.update == .forced && response.versionCheck?.message == "Update!")
        #expect(response.domainsConfiguration?.requiresPinning("a") == false)
        #expect(response.domainsConfiguration?.requiresPinning("b") == true)
        #expect(
            try read(DocumentSigner.body([], at: 7, more: #","verifyVersionResult":{"update":"NOT_REQUIRED"}"#)).get()
                .versionCheck == .init(update: .notRequired, message: nil))
    }

    @Test(
        "What is signed is still read strictly",
        arguments: [
            (#"{"fingerprints":[]}"#, DocumentError.Code.missingField), (#"{"timestamp":1}"#, .missingField),
            (#"{"timestamp":1.5,"fingerprints":[]}"#, .notAnInteger),
            (#"{"timestamp":-1,"fingerprints":[]}"#, .invalidValue),
            (#"{"timestamp":1,"timestamp":2,"fingerprints":[]}"#, .duplicateKey),
            (#"{"timestamp":1,"fingerprints":[{"name":"a"}]}"#, .missingField),
            (#"{"timestamp":1,"fingerprints":[],"verifyVersionResult":{"update":"MAYBE"}}"#, .invalidValue),
            (#"{"timestamp":1,"fingerprints":[]},"#, .notJSON),
        ])
    func strict(body: String, code: DocumentError.Code) throws {
        guard case .failure(let error) = try read(Data(body.utf8)) else {
            Issue.record("it was accepted")
            return
        }
        #expect(error.code == code)
    }

    @Test("Entries and bytes are limited by the caller")
    func limits() throws {
        let body = DocumentSigner.body([("a", .fingerprint(1), 5), ("b", .fingerprint(1), 5)], at: 1)
        #expect(throws: DocumentError.self) { try read(body, limits: DocumentLimits(entries: 1)).get() }
        #expect(throws: DocumentError.self) { try read(body, limits: DocumentLimits(bytes: body.count - 1)).get() }
        #expect(try read(body, limits: DocumentLimits(bytes: body.count, entries: 2)).get().entries.count == 2)
    }

    @Test("Names that Unicode calls equivalent are two names, and the same octets are one")
    func domainNames() throws {
        func domains(_ names: [String]) throws -> DomainsConfiguration? {
            let signer = DocumentSigner()
            let list = names.map { #"{"name":"\#($0)","sslPinningRequired":false}"# }.joined(separator: ",")
            let body = DocumentSigner.body([], at: 1, more: #","domainsConfig":{"domains":[\#(list)]}"#)
            return try ChallengeResponse(
                verifying: body, signature: signer.answer(to: "AAAA", body), challenge: "AAAA", by: signer.publicKey
            ).domainsConfiguration
        }
        let read = try #require(try domains(["\u{E9}", "e\u{301}", "a"]))
        // Both denote one host, which clients know by its A-label.
        #expect(read.isRequired("xn--9ca") == false)
        #expect(read.requiresPinning("b") && !read.requiresPinning("a") && read.pinningRequired["a"] == false)
        #expect(throws: DocumentError(.invalidValue, expected: "", found: "")) { try domains(["a", "a"]) }
    }

    @Test("A host finds its domain whatever letters the document spells it in; of two spellings the stricter counts")
    func spellings() {
        func configuration(_ required: [String: Bool]) -> DomainsConfiguration {
            DomainsConfiguration(
                pinningRequiredForUnlisted: false,
                required: Dictionary(uniqueKeysWithValues: required.map { (Array($0.utf8), $1) }))
        }
        #expect(configuration(["WWW.Bank.example": true]).requiresPinning("www.bank.example"))
        let both = configuration(["www.bank.example": false, "WWW.bank.example": true])
        #expect(both.requiresPinning("www.bank.example"))
        #expect(!configuration(["www.bank.example": true]).requiresPinning("mail.bank.example"))
    }
}

extension DomainsConfiguration {
    /// Whether a host needs pins.
    func requiresPinning(_ name: String) -> Bool { isRequired(name) ?? pinningRequiredForUnlisted }
}
