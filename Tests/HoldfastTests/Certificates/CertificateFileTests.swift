import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Files of certificates", .timeLimit(.minutes(15)))
struct CertificateFileTests {
    private func read(_ text: String) throws(CertificateFileError) -> [X509Certificate] {
        try CertificateFile.certificates(in: Data(text.utf8), named: "test")
    }
    private static let key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"

    @Test("DER is one certificate")
    func der() throws {
        let made = try TestAuthority.root().certificate
        #expect(try CertificateFile.certificates(in: Data(made.der), named: "a").map(\.der) == [made.der])
        for bad in [Data(), Data(made.der + [0]), Data("no certificate".utf8), Data(made.der.dropLast())] {
            let error = #expect(throws: CertificateFileError.self) {
                try CertificateFile.certificates(in: bad, named: "a")
            }
            #expect(error?.code == .notACertificate)
            #expect(error?.file == "a")
        }
    }

    @Test("DER that holds the words of PEM is DER still")
    func derWithWords() throws {
        let made = try TestAuthority.root(name: "-----BEGIN CERTIFICATE-----").certificate
        #expect(try CertificateFile.certificates(in: Data(made.der), named: "a").count == 1)
    }

    @Test("PEM may hold several, with other blocks, text, CRLF, indentation and no newline at the end")
    func pem() throws {
        let (one, two) = (try TestAuthority.root().certificate, try TestAuthority.root().certificate)
        for text in [
            one.pem + two.pem, "# One\n" + one.pem + "\n\nText - with dashes\n" + Self.key + two.pem,
            one.pem.replacing("\n", with: "\r\n") + two.pem, String((one.pem + two.pem).dropLast()),
            "\u{FEFF}" + one.pem + two.pem, one.pem.replacing("CERTIFICATE", with: "X509 CERTIFICATE") + two.pem,
            one.pem.replacing("\n", with: " \n") + two.pem,
        ] {
            #expect(try read(text).map(\.der) == [one.der, two.der], "\(text)")
        }
        #expect(try read(Self.key).isEmpty)
    }

    @Test("Text around the blocks may be of any encoding")
    func latin1() throws {
        let one = try TestAuthority.root().certificate
        let data = Data([0x23, 0x20, 0xC2, 0x6D, 0xE9, 0x0A]) + Data(one.pem.utf8)
        #expect(try CertificateFile.certificates(in: data, named: "a").map(\.der) == [one.der])
    }

    @Test("What is wrong with a block is said with its line, and with no character of it")
    func lines() throws {
        let one = try TestAuthority.root().certificate.pem
        let last = one.split(separator: "\n").count
        let half = one.split(separator: "\n", omittingEmptySubsequences: false)
        for (text, line, expected, found) in [
            (
                one.replacing("-----END CERTIFICATE-----\n", with: ""), last - 1, "-----END CERTIFICATE-----",
                "the end of the file"
            ),
            (one.replacing("END C", with: "END c"), last, "-----END CERTIFICATE-----", "another END"),
            (one.replacing("-----END", with: "-----EDN"), last, "-----END CERTIFICATE-----", "other characters"),
            (
                "x\r\n\r\n" + half[0] + "\r\n" + half[1] + "!\r\n" + half[2...].joined(separator: "\r\n"), 4, "Base64",
                "other characters"
            ),
            (
                half[0...1].joined(separator: "\n") + "\n" + one, 3, "-----END CERTIFICATE-----",
                "the BEGIN of another block"
            ),
            (
                half[0...1].joined(separator: "\n") + "A\n" + half[(last - 1)...].joined(separator: "\n"), 1,
                "whole Base64", "characters"
            ),
        ] {
            let block = try #require(PEMBlocks.read(Data(text.utf8)).first)
            guard case .failure(let problem) = block.content else {
                Issue.record("\(text) is damaged")
                continue
            }
            #expect(
                problem.line == line && problem.expected.contains(expected) && problem.found.contains(found),
                "\(problem.text)")
        }
        let strange = "-----BEGIN MIGH-----x-----END PRIVATE KEY-----\nAAAA\n"
        let block = try #require(PEMBlocks.read(Data(strange.utf8)).first)
        #expect(block.name == "an unknown kind")
        #expect(
            PEMBlocks.read(Data("-----BEGIN \(String(repeating: "\u{301}", count: 9_000))-----\n".utf8)).first?.label
                == "")
    }

    @Test("A block that cannot be decoded is an error that names the file, wherever it stands")
    func damaged() throws {
        let one = try TestAuthority.root().certificate.pem
        for (text, code) in [
            (one + one.replacing("M", with: "!"), CertificateFileError.Code.invalidPEM),
            (String(one.dropLast(30)), .invalidPEM),
            (one + "-----BEGIN CERTIFICATE-----\n", .invalidPEM),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" + one, .notACertificate),
            ("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n", .notACertificate),
        ] {
            let error = #expect(throws: CertificateFileError.self) { try read(text) }
            #expect(error?.code == code, "\(text)")
            #expect(error?.file == "test")
            #expect(error?.remedy.isEmpty == false)
        }
    }

    @Test("A file larger than any bundle is refused, and one that is not there is unreadable")
    func files() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "big.pem")
            try Data(count: CertificateFile.maximumBytes + 1).write(to: file)
            #expect(throws: CertificateFileError(.tooLarge, file: "", expected: "", found: "")) {
                try CertificateFile.read(file)
            }
            #expect(throws: CertificateFileError(.unreadable, file: "", expected: "", found: "")) {
                try CertificateFile.read(folder.appending(path: "none.pem"))
            }
            let good = folder.appending(path: "good.pem")
            let made = try TestAuthority.root().certificate
            try Data(made.pem.utf8).write(to: good)
            #expect(try CertificateFile.read(good).map(\.der) == [made.der])
        }
    }
}
