import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Where certificates to pin come from", .timeLimit(.minutes(15)))
struct CertificateSourceTests {
    @Test("A folder gives every certificate of every file with one of its endings, in the order of names")
    func folder() async throws {
        let fixture = try PolicyFixture()
        let log = RecordingLog()
        try await withTemporaryFolder { folder in
            func write(_ text: some Sequence<UInt8>, _ name: String) throws {
                try Data(Array(text)).write(to: folder.appending(path: name))
            }
            try write(fixture.leaf.der, "1.CER")
            try write((fixture.issuing.certificate.pem + fixture.leaf.key.privateKeyPEM).utf8, "2.pem")
            try write((fixture.root.certificate.pem + fixture.leaf.pem).utf8, "3.crt")
            try write(fixture.leaf.key.privateKeyPEM.utf8, "4.pem")
            try write([1, 2, 3], "readme.txt")
            let found = try CertificateSource.folder(folder).read(log: log.policyLog)
            #expect(
                found.map(\.der) == [fixture.leaf.der, fixture.issuing.der, fixture.root.der, fixture.leaf.der])
            #expect(log.lines.count == 1)
            #expect(log.lines.first?.contains("4.pem") == true)
            #expect(try CertificateSource.folder(folder, endings: ["crt"]).read().count == 2)
            #expect(try CertificateSource.files([folder.appending(path: "2.pem")]).read().count == 1)
        }
    }

    @Test("A file that does not parse, an empty one and one that is missing are errors that name it")
    func errors() async throws {
        try await withTemporaryFolder { folder in
            for (name, content) in [
                ("broken.der", "no certificate"), ("empty.cer", ""),
                ("broken.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
            ] {
                let file = folder.appending(path: name)
                try Data(content.utf8).write(to: file)
                let error = try #require(throws: CertificateFileError.self) {
                    try CertificateSource.folder(folder).read()
                }
                #expect(error.description.contains(name))
                try FileManager.default.removeItem(at: file)
            }
            #expect(try CertificateSource.folder(folder).read().isEmpty)
            for missing in [
                CertificateSource.files([folder.appending(path: "x")]), .folder(folder.appending(path: "x")),
            ] {
                let error = #expect(throws: CertificateFileError.self) { try missing.read() }
                #expect(error?.code == .unreadable)
                #expect(error?.file == folder.appending(path: "x").path)
            }
        }
    }

    @Test("Data that is no certificate is an error that counts it")
    func data() throws {
        let fixture = try PolicyFixture()
        let source = CertificateSource.data([Data(fixture.leaf.der), Data([1])])
        let error = #expect(throws: CertificateFileError.self) { try source.read() }
        #expect(error?.file == "certificate 2 of 2")
        #expect(try CertificateSource.der([fixture.leaf.der]).read().map(\.der) == [fixture.leaf.der])
    }

    @Test("Two certificates of one key are one pin, not a backup")
    func samePin() throws {
        let fixture = try PolicyFixture()
        let renewed = try fixture.issuing.renew(fixture.leaf)
        let certificates = try CertificateSource.der([fixture.leaf.der, renewed.der]).read()
        #expect(try PinSet(.publicKey, of: certificates).pins.count == 1)
        #expect(try PinSet(.certificate, of: certificates).pins.count == 2)
    }

    @Test("A bundle gives its .cer files, others when asked for")
    func bundle() async throws {
        let fixture = try PolicyFixture()
        try await withTemporaryFolder { folder in
            try Data(fixture.leaf.der).write(to: folder.appending(path: "a.cer"))
            try Data(fixture.root.certificate.pem.utf8).write(to: folder.appending(path: "b.pem"))
            let bundle = try #require(Bundle(path: folder.path))
            #expect(try CertificateSource.bundle(bundle).read().map(\.der) == [fixture.leaf.der])
            let both = try CertificateSource.bundle(bundle, endings: ["cer", "pem"]).read()
            #expect(both.map(\.der) == [fixture.leaf.der, fixture.root.der])
        }
    }
}
