import Foundation
import Testing

@testable import Holdfast

@Suite("Fingerprint lists")
struct FingerprintListTests {
    private let signer = DocumentSigner()

    private func error(_ data: Data, limits: DocumentLimits = DocumentLimits()) throws -> DocumentError? {
        let key = try signer.publicKey
        do throws(DocumentError) {
            _ = try FingerprintList(verifying: data, with: key, limits: limits)
            return nil
        } catch {
            return error
        }
    }

    private func code(_ data: Data) throws -> DocumentError.Code? { try error(data)?.code }

    @Test(
        "The published vectors verify, as name, fingerprint and expiry in this order",
        arguments: [
            (
                "BEG6g28LNWRcmdFzexSNTKPBYZnDtKrCyiExFKbktttfKAF7wG4Cx1Nycr5PwCoICG1dRseLyuDxUilAmppPxAo=",
                "www.google.com", "nu1DOBz31Y5FY6lRNkJV/HdnB6BDVCp7mX0nxkbub7Y=", 1_540_280_280_000,
                "MEQCIGDeccZP1CqyOCX9//L7duCKY8eYxYfKUAr0z4XWi7//AiAaOyhAtFqpcpULGzVescjmGgVrPIY77h9D45em9y9o8w=="
            ),
            (
                "BC3kV9OIDnMuVoCdDR9nEA/JidJLTTDLuSA2TSZsGgODSshfbZg31MS90WC/HdbU/A5WL5GmyDkE/iks6INv+XE=",
                "github.com", "MRFQDEpmASza4zPsP8ocnd5FyVREDn7kE3Fr/zZjwHQ=", 1_591_185_600_000,
                "MEYCIQDoeBkao6W8wOqLGcicPzjQdzcA2y6ZXMdqQ+rgw7dSCQIhAN+CaYIizKRYQFc8OfQ84OEGiBjjfVqPVrnKFfUuVebr"
            ),
        ])
    func vectors(key: String, name: String, fingerprint: String, expires: Int64, signature: String) throws {
        let data = Data(
            #"{"fingerprints":[{"name":"\#(name)","fingerprint":"\#(fingerprint)","expires":\#(expires),"signature":"\#(signature)"}]}"#
                .utf8)
        let list = try FingerprintList(verifying: data, with: DocumentPublicKey(base64: key))
        let entry = try #require(list.entries.first)
        #expect(list.entries.count == 1)
        #expect(entry.name == name && entry.fingerprint == fingerprint && entry.expires == expires && entry.depth == 0)
        #expect(entry.pin.subject == .certificate)
        #expect(try DocumentPublicKey(base64: key).base64 == key)
    }

    @Test("The order of the documented recipe, with expiry before fingerprint, does not verify")
    func otherOrder() throws {
        let fingerprint = Data.fingerprint(1)
        let entry = try signer.entry("a", fingerprint, 5, signing: "a&5&\(fingerprint.base64EncodedString())")
        #expect(try code(signer.list([entry])) == .invalidSignature)
    }

    @Test("One entry with a bad signature rejects the whole document, and the error names it")
    func oneBadEntry() throws {
        var entries = try (0..<1_500).map { try signer.entry("h\($0).example", .fingerprint(1), 5) }
        #expect(try FingerprintList(verifying: signer.list(entries), with: signer.publicKey).entries.count == 1_500)
        for bad in [0, 700, 1_023, 1_024, 1_499] {
            let good = entries[bad]
            entries[bad] = try signer.entry("h\(bad).example", .fingerprint(1), 5, signing: "something else")
            let error = try #require(try error(signer.list(entries)))
            #expect(error.code == .invalidSignature && error.entry == bad && error.field == "signature")
            entries[bad] = good
        }
        let foreign = try DocumentSigner().entry("h0.example", .fingerprint(1), 5)
        #expect(try code(signer.list([foreign])) == .invalidSignature)
    }

    @Test("An entry without a signature rejects the document")
    func unsignedEntry() throws {
        let entry = #"{"name":"a","fingerprint":"\#(Data.fingerprint(1).base64EncodedString())","expires":5}"#
        let error = try #require(try error(signer.list([try signer.entry("b", .fingerprint(2), 5), entry])))
        #expect(error.code == .missingField && error.entry == 1 && error.field == "signature")
    }

    @Test("A changed name, fingerprint or expiry does not verify")
    func changedFields() throws {
        let text = try signer.entry("www.example.com", .fingerprint(1), 1_900_000_000)
        for (old, new) in [
            ("www.example.com", "www.example.org"), ("1900000000", "1900000001"),
            (Data.fingerprint(1).base64EncodedString(), Data.fingerprint(2).base64EncodedString()),
        ] {
            #expect(try code(signer.list([text.replacingOccurrences(of: old, with: new)])) == .invalidSignature)
        }
    }

    @Test("Depth is read, from 0 to 16; a list says nothing more about it than its writer did")
    func depth() throws {
        func depth(_ text: String) throws -> Int? {
            let data = signer.list([try signer.entry("a", .fingerprint(1), 5, more: ",\"depth\":\(text)")])
            return try? FingerprintList(verifying: data, with: signer.publicKey).entries.first?.depth
        }
        #expect(try depth("0") == 0 && depth("2") == 2 && depth("16") == 16 && depth("null") == 0)
        for text in ["-1", "17", "1.0", "1e1", "\"1\"", "99999999999999999999"] { #expect(try depth(text) == nil) }
    }

    @Test("The domain configuration of a static list is reported, and named as what it is: unsigned")
    func domainsConfiguration() throws {
        let more =
            #","domainsConfig":{"sslPinningRequiredForUnlisted":false,"domains":[{"name":"a","sslPinningRequired":false},{"name":"b"}]}"#
        let list = try FingerprintList(verifying: signer.list([], more: more), with: signer.publicKey)
        let configuration = try #require(list.unsignedDomainsConfiguration)
        #expect(!configuration.requiresPinning("a") && configuration.requiresPinning("b"))
        #expect(!configuration.requiresPinning("c"))
        #expect(
            try FingerprintList(verifying: signer.list([]), with: signer.publicKey).unsignedDomainsConfiguration == nil)
        let twice = #","domainsConfig":{"domains":[{"name":"a"},{"name":"a","sslPinningRequired":false}]}"#
        #expect(try code(signer.list([], more: twice)) == .invalidValue)
    }

    @Test(
        "Errors name the entry and the field",
        arguments: [
            (#"{"name":1}"#, DocumentError.Code.wrongType, "name"),
            (#"{"name":""}"#, .invalidValue, "name"),
            (#"{"name":"a\u0000b"}"#, .invalidValue, "name"),
            (#"{"name":"a","name":"b"}"#, .duplicateKey, "name"),
            (#"{"fingerprint":"AAAA"}"#, .invalidValue, "fingerprint"),
            (#"{"fingerprint":"AA"}"#, .notCanonicalBase64, "fingerprint"),
            (#"{"fingerprint":"nu1DOBz31Y5FY6lRNkJV/HdnB6BDVCp7mX0nxkbub7Z="}"#, .notCanonicalBase64, "fingerprint"),
            (#"{"expires":1.0}"#, .notAnInteger, "expires"),
            (#"{"expires":1e9}"#, .notAnInteger, "expires"),
            (#"{"expires":-1}"#, .invalidValue, "expires"),
            (#"{"expires":"1"}"#, .wrongType, "expires"),
            (#"{"signature":"***"}"#, .notCanonicalBase64, "signature"),
            (#"{}"#, .missingField, "name"),
            (#"{"name":"a"}"#, .missingField, "fingerprint"),
        ])
    func errors(entry: String, code: DocumentError.Code, field: String) throws {
        let error = try #require(try error(signer.list([try signer.entry("b", .fingerprint(2), 5), entry])))
        #expect(error.code == code && error.field == field && error.entry == 1)
        #expect(error.description.contains("entry 1") && error.description.contains(field))
    }

    @Test("A document without fingerprints, or of another shape, is refused")
    func otherShapes() throws {
        #expect(try code(Data("{}".utf8)) == .missingField)
        #expect(try code(Data("[]".utf8)) == .wrongType)
        #expect(try code(Data(#"{"fingerprints":{}}"#.utf8)) == .wrongType)
        #expect(try code(Data(#"{"fingerprints":[]}x"#.utf8)) == .notJSON)
        #expect(try code(Data(#"{"fingerprints":[],"fingerprints":[]}"#.utf8)) == .duplicateKey)
        #expect(try code(Data(#"{"fingerprints":[],"x":[1,{"y":null}]}"#.utf8)) == nil)
    }

    @Test("Bytes and entries are limited by the caller")
    func limits() throws {
        let data = signer.list([try signer.entry("a", .fingerprint(1), 5), try signer.entry("b", .fingerprint(1), 5)])
        #expect(try error(data, limits: DocumentLimits(entries: 2)) == nil)
        #expect(try error(data, limits: DocumentLimits(entries: 1))?.code == .tooManyEntries)
        #expect(try error(data, limits: DocumentLimits(bytes: data.count)) == nil)
        #expect(try error(data, limits: DocumentLimits(bytes: data.count - 1))?.code == .tooLarge)
    }

    @Test(
        "A public key is the canonical Base64 of a point on the curve",
        arguments: [
            ("", DocumentError.Code.invalidPublicKey), ("BEG6", .invalidPublicKey), ("not Base64", .notCanonicalBase64),
            (
                "BEG6g28LNWRcmdFzexSNTKPBYZnDtKrCyiExFKbktttfKAF7wG4Cx1Nycr5PwCoICG1dRseLyuDxUilAmppPxAs=",
                .invalidPublicKey
            ),
            (
                "BEG6g28LNWRcmdFzexSNTKPBYZnDtKrCyiExFKbktttfKAF7wG4Cx1Nycr5PwCoICG1dRseLyuDxUilAmppPxAo",
                .notCanonicalBase64
            ),
        ])
    func publicKeys(text: String, code: DocumentError.Code) {
        do throws(DocumentError) {
            _ = try DocumentPublicKey(base64: text)
            Issue.record("it was accepted")
        } catch {
            #expect(error.code == code)
        }
    }
}
