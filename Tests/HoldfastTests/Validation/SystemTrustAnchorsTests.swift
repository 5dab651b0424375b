import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("The system's anchors", .timeLimit(.minutes(15)))
struct SystemTrustAnchorsTests {
    private let roots: [TestCertificate]

    init() throws { roots = try (0..<4).map { try Judge.root(.commonName("Root \($0)")).certificate } }

    private func write(_ text: String, to path: String, in root: URL) throws {
        let file = root.appending(path: path)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    private func read(_ root: URL, _ environment: [String: String] = [:]) throws(TrustAnchorError)
        -> SystemTrustAnchors.Reading
    {
        try SystemTrustAnchors(environment: environment, root: root).read()
    }

    private var bundle: String { roots.map { "# \($0.specification.subject)\n" + $0.pem }.joined(separator: "\n") }

    @Test(
        "The bundles of Debian, Fedora, openSUSE and Alpine are found",
        arguments: [
            "etc/ssl/certs/ca-certificates.crt", "etc/pki/tls/certs/ca-bundle.crt",
            "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
            "etc/ssl/ca-bundle.pem", "etc/ssl/cert.pem",
        ])
    func bundles(path: String) async throws {
        try await withTemporaryFolder { root in
            try write(bundle, to: path, in: root)
            let reading = try read(root)
            #expect(reading.anchors.certificates.map(\.der) == roots.map(\.der))
            #expect(reading.leftOut.isEmpty)
            #expect(reading.sources.count == 1)
        }
    }

    @Test("A bundle may be a link, as Fedora's and Alpine's are")
    func links() async throws {
        try await withTemporaryFolder { root in
            try write(bundle, to: "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", in: root)
            try FileManager.default.createDirectory(
                at: root.appending(path: "etc/pki/tls/certs"), withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                atPath: root.appending(path: "etc/pki/tls/certs/ca-bundle.crt").path,
                withDestinationPath: "../../ca-trust/extracted/pem/tls-ca-bundle.pem")
            #expect(try read(root).anchors.certificates.count == 4)
        }
    }

    @Test("Without a bundle the folder counts: files and links, each certificate once, no folders")
    func folder() async throws {
        try await withTemporaryFolder { root in
            for (number, one) in roots.enumerated() { try write(one.pem, to: "etc/ssl/certs/\(number).pem", in: root) }
            try Data(roots[0].der).write(to: root.appending(path: "etc/ssl/certs/zero.der"))
            try write("not a certificate", to: "etc/ssl/certs/README", in: root)
            try write(roots[0].pem, to: "etc/ssl/certs/java/0.pem", in: root)
            try FileManager.default.createSymbolicLink(
                atPath: root.appending(path: "etc/ssl/certs/5ed36f99.0").path, withDestinationPath: "1.pem")
            try FileManager.default.createSymbolicLink(
                atPath: root.appending(path: "etc/ssl/certs/dead.0").path, withDestinationPath: "none.pem")
            let reading = try read(root)
            #expect(Set(reading.anchors.certificates.map(\.der)) == Set(roots.map(\.der)))
            #expect(reading.leftOut.map { URL(filePath: $0.file).lastPathComponent } == ["README"])
        }
    }

    @Test("SSL_CERT_FILE and SSL_CERT_DIR take the place of the system's")
    func environment() async throws {
        try await withTemporaryFolder { root in
            try write(roots[0].pem, to: "etc/ssl/certs/ca-certificates.crt", in: root)
            try write(roots[1].pem, to: "own/file.pem", in: root)
            try write(roots[2].pem, to: "own/a/1.pem", in: root)
            try write(roots[3].pem, to: "own/b/1.pem", in: root)
            let own = root.appending(path: "own").path
            func anchors(_ environment: [String: String]) throws -> [[UInt8]] {
                try read(root, environment).anchors.certificates.map(\.der)
            }
            #expect(try anchors(["SSL_CERT_FILE": "\(own)/file.pem"]) == [roots[1].der])
            #expect(try anchors(["SSL_CERT_DIR": "\(own)/a:\(own)/b"]) == [roots[2].der, roots[3].der])
            #expect(try anchors(["SSL_CERT_DIR": ":\(own)/a:"]) == [roots[2].der])
            #expect(
                try anchors(["SSL_CERT_FILE": "\(own)/file.pem", "SSL_CERT_DIR": "\(own)/a"]) == [
                    roots[1].der, roots[2].der,
                ])
            #expect(try anchors(["SSL_CERT_FILE": "", "SSL_CERT_DIR": ""]) == [roots[0].der])
            // One that is not there is no reason to trust another.
            #expect(throws: TrustAnchorError.self) { try anchors(["SSL_CERT_FILE": "\(own)/none.pem"]) }
            #expect(throws: TrustAnchorError.self) { try anchors(["SSL_CERT_DIR": "\(own)/none"]) }
        }
    }

    @Test("A damaged certificate in a bundle is left out and named; the others stay")
    func damaged() async throws {
        let good = roots[0].pem
        let notDER = TestCertificate.pem([1, 2, 3])
        let notBase64 = good.replacing("M", with: "!")
        let cut = "-----BEGIN CERTIFICATE-----\nAAAA\n"
        for bad in [
            notDER, notBase64, cut, "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
            "-----BEGIN CERTIFICATE-----\n-----END TRUSTED CERTIFICATE-----\n",
        ] {
            for text in [bad + good + roots[1].pem, good + bad + roots[1].pem, good + roots[1].pem + bad] {
                try await withTemporaryFolder { root in
                    try write(text, to: "etc/ssl/cert.pem", in: root)
                    let reading = try read(root)
                    #expect(reading.anchors.certificates.map(\.der) == [roots[0].der, roots[1].der], "\(bad)")
                    #expect(reading.leftOut.count == 1, "\(bad)")
                    #expect(reading.leftOut.first?.file.hasSuffix("cert.pem") == true)
                }
            }
        }
    }

    @Test("Nothing to read, or nothing that can be, is an error that says where was looked")
    func nothing() async throws {
        try await withTemporaryFolder { root in
            let error = #expect(throws: TrustAnchorError.self) { try read(root) }
            #expect(error?.expected.contains("ca-certificates.crt") == true)
            try write("", to: "etc/ssl/cert.pem", in: root)
            #expect(throws: TrustAnchorError.self) { try read(root) }
            try write("# comments only\n", to: "etc/ssl/cert.pem", in: root)
            #expect(throws: TrustAnchorError.self) { try read(root) }
        }
    }

    @Test("A file of no sensible size is left out unread")
    func huge() async throws {
        try await withTemporaryFolder { root in
            try write(roots[0].pem, to: "etc/ssl/certs/0.pem", in: root)
            let big = root.appending(path: "etc/ssl/certs/1.pem")
            try Data().write(to: big)
            let handle = try FileHandle(forWritingTo: big)
            try handle.truncate(atOffset: 1 << 34)
            try handle.close()
            let reading = try read(root)
            #expect(reading.anchors.certificates.map(\.der) == [roots[0].der])
            #expect(reading.leftOut.map(\.code) == [.tooLarge])
        }
    }

    private static let store = SystemTrustAnchors.bundles.first { FileManager.default.fileExists(atPath: $0) }

    @Test(
        "Every certificate of this machine's store is read",
        .enabled(if: store != nil, "no bundle of CA certificates here"))
    func thisMachine() async throws {
        let path = try #require(Self.store)
        let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        let blocks = text.split(separator: "\n").count { $0.hasPrefix("-----BEGIN CERTIFICATE-----") }
        let reading = try SystemTrustAnchors(environment: [:]).read()
        #expect(reading.leftOut.isEmpty)
        #expect(reading.anchors.certificates.count == blocks)
        let now = SystemWallClock().now
        let context = PathRuleContext(time: now.wholeSeconds, isServer: true)
        for anchor in reading.anchors.certificates where anchor.notAfter >= now {
            // Each can end a path.
            let violation = PathRules.standard.issuer.lazy.compactMap { $0.violation(of: anchor, in: context) }.first
            #expect(violation == nil, "\(anchor.subject): \(violation?.code.rawValue ?? "")")
        }
        let again = try await TrustAnchors.system(environment: [:])
        #expect(again == reading.anchors)
    }
}
