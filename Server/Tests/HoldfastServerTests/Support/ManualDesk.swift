import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerImport

/// Where the commands of a page are run: what an operator has before the first of them, and what stands in the place of
/// things that a test has not.
struct ManualDesk {
    static let holdfastctl = Manual.root.appending(path: ".build/debug/holdfastctl")
    static let isTested =
        ForeignProgram.areRequired || FileManager.default.isExecutableFile(atPath: holdfastctl.path)

    let folder: URL
    let authority: TestAuthority
    let shown: TestCertificate
    let next: TestCertificate
    let host: LoopbackTLSServer
    let environment: [String: String]
    var change = ""
    var publicKey = ""
    /// The addresses that may be watched although they are not of the public Internet.
    var allowance = " --allow 127.0.0.0/8"
    /// The values of a page's words in capitals, such as the digest of a certificate.
    var values: [String: String] = [:]

    /// - Parameter clock: by which certificates are made.
    init(in folder: URL, clock: any WallClock = SystemWallClock()) async throws {
        self.folder = folder
        authority = try TestAuthority.root(clock: clock)
        shown = try authority.leaf(names: [.dns(World.host)])
        // The authority has changed its intermediate by then.
        next = try authority.intermediate().leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
        host = try await LoopbackTLSServer.start(serving: shown)
        for name in ["srv", "etc/holdfast", "media/safe", "bin"] {
            try FileManager.default.createDirectory(
                at: folder.appending(path: name), withIntermediateDirectories: true)
        }
        for (name, program) in [("holdfast-server", ServerProgram.url), ("holdfastctl", Self.holdfastctl)] {
            try FileManager.default.createSymbolicLink(
                at: folder.appending(path: "bin/\(name)"), withDestinationURL: program)
        }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        environment = ["PATH": "\(folder.path)/bin:\(path)"]
        for (name, text) in [
            ("roots.pem", TestCertificate.pem(authority.root)), ("today.pem", shown.chainPEM),
            ("fullchain.pem", next.chainPEM),
            ("answer", "yes\n"), ("answers.json", #"{"versions": [], "texts": []}"#),
            ("alice.password", "for alice alone"), ("bob.password", "for bob alone"),
            ("carol.password", "for carol alone"), ("backup.password", "for backups alone"),
        ] { try write(name, text) }
    }

    /// Writes a file that only its owner reads.
    func write(_ name: String, _ text: String) throws {
        let file = folder.appending(path: name)
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }

    /// The command with the paths, the host and the times of this test.
    func fitted(_ text: String) -> String {
        var text = text.replacing("CHANGE", with: change)
        for (word, value) in values { text = text.replacing(word, with: value) }
        for path in ["/srv/", "/etc/holdfast/", "/media/safe/"] {
            text = text.replacing(path, with: folder.path + path)
        }
        let wait = text.contains("today.pem") ? 0 : TimeInterval(World.month)
        let begins = SystemWallClock().now.addingTimeInterval(wait).formatted(.iso8601)
        text = text.replacing(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/, with: begins)
        if text.contains("host add bank") {
            text += " --port \(host.port) --dial \(host.address)"
        } else {
            text = text.replacing(" bank \(World.host)", with: " bank \(World.host):\(host.port)")
        }
        return text.contains("host see bank") ? text + allowance : text
    }

    /// Runs a command as the person it names, and as the others who type it as well.
    /// - Returns: what it said, to the last of them.
    mutating func run(_ command: Manual.Command) async throws -> String {
        let first = command.text.firstMatch(of: /--key ([a-z]+)\.pem/).map { String($0.1) } ?? "nobody"
        var output = ""
        for name in [first] + command.others {
            output = try await run(command.text.replacing(first, with: name), status: command.status)
        }
        if command.text.contains("change propose") {
            change = String(output.prefix { $0 != "\n" }.dropFirst("change ".count))
        }
        return output
    }

    /// Runs it, with yes for what it asks.
    func run(_ text: String, status expected: Int32 = 0) async throws -> String {
        let (status, output) = try await ForeignProgram.run(
            ForeignProgram.required("bash"), ["-euo", "pipefail", "-c", fitted(text)], in: folder,
            withErrors: true, environment: environment, input: folder.appending(path: "answer"))
        let words = String(decoding: output, as: UTF8.self)
        #expect(status == expected, "\(fitted(text)): \(words)")
        return words
    }

    /// The checks of the list in the folder: whether clients that have it can connect to the host now, and after its
    /// renewal.
    var checks: [String] {
        let pins =
            "--list srv/pins/public/lists/bank.json --public-key \(publicKey) --no-shipped-pins --ca roots.pem --quiet"
        return [
            "holdfastctl check \(World.host) --connect-to \(host.address):\(host.port) --timeout 60s \(pins)",
            "holdfastctl check --chain fullchain.pem --host \(World.host) \(pins)",
        ]
    }

    /// Whether an app with the key that `app key` printed gets in where the host is, today and after its renewal.
    func letsIn(from port: Int) async throws -> Bool {
        let provider = URLSessionDataProvider(allowsPlainHTTPToLoopback: true)
        let store = try store("http://127.0.0.1:\(port)/lists/bank.json", provider)
        _ = try await store.update(mode: .forced)
        return try letsIn(shown, store) && letsIn(next, store)
    }

    /// An app with the key that `app key` printed.
    func store(
        _ url: String, _ provider: any RemoteDataProvider, storage: InMemoryDataStore = InMemoryDataStore()
    ) throws -> CertStore {
        try CertStore(
            checking: CertStoreConfiguration(
                serviceURL: try #require(URL(string: url)), publicKey: publicKey, useChallenge: false),
            secureDataStore: storage, remoteDataProvider: provider, logger: AdministrationSite.quiet)
    }

    /// Whether an app lets a certificate in now.
    func letsIn(_ certificate: TestCertificate, _ store: CertStore) throws -> Bool {
        let trust = ServerTrust(
            chain: PresentedChain(certificate.chain),
            purpose: .server(identity: try DialedHost(World.host, port: host.port)),
            validator: PathValidator(anchors: try TrustAnchors(der: [authority.root])))
        return try store.policy(for: World.host).evaluate(trust, at: SystemWallClock().now).isTrusted
    }
}
