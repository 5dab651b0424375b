import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastPublishing
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

struct ScriptedClock: WallClock {
    let time: @Sendable () -> Date

    var now: Date { time() }
}

/// A folder with a key, an authority, and servers on loopback.
struct TrustServerSite {
    let folder: URL
    let root: TestAuthority
    let leaf: TestCertificate
    /// The certificate of its key.
    let certificate: Data

    func file(_ name: String) -> URL { folder.appending(path: name) }

    func write(_ name: String, _ text: String) throws { try Data(text.utf8).write(to: file(name)) }

    func publish(_ arguments: [String] = []) async throws -> CommandRun {
        try await CommandRun.inProcess(publishArguments + arguments, in: folder)
    }

    /// - Parameter script: starts the command as `"$@"`, with what more it shall get.
    func publish(by script: String) async throws -> CommandRun {
        let program = try #require(CommandRun.program)
        return try await CommandRun.run(
            URL(filePath: "/bin/sh"), ["-c", script, "sh", program.path] + publishArguments, in: folder)
    }

    var publishArguments: [String] {
        [
            "trust-server", "publish", "--customer", "acme", "--domains", "data/acme.domains", "--folder", "output",
            "--ca", "root.pem", "--timeout", "60s", "--no-shipped-pins",
        ]
    }

    func document(at time: Date? = nil) throws -> TrustServerDocument {
        try TrustServerDocument(
            verifying: try Data(contentsOf: file("output/acme.json.signed")),
            by: try TrustServerSigner(certificate: certificate), customer: "acme",
            at: time ?? SystemWallClock().now)
    }

    var second: Int64 { Int64(SystemWallClock().now.timeIntervalSince1970) }

    var key: TrustServerKey {
        get throws {
            try TrustServerKey(
                certificate: certificate,
                privateKeyPEM: try String(contentsOf: file("data/acme.key"), encoding: .utf8))
        }
    }

    func emptyDocument(at time: Int64) throws -> Data {
        try TrustServerDraft(customer: "acme", hosts: [], timestamp: Date(timeIntervalSince1970: TimeInterval(time)))
            .signed(by: try key)
    }

    /// A round in this process, about one host that is always validated.
    func publication(_ clock: ScriptedClock) throws -> TrustServerPublication {
        let host = try ServerAddress.host("127.0.0.1:1")
        let validator = PathValidator(anchors: try TrustAnchors(der: [root.root]))
        let path = try #require(
            validator.validate(
                PresentedChain(leaf.chain), for: .server(identity: host), at: SystemWallClock().now
            ) { _ in true }.path)
        return try publication([host], clock) { _ in .validated(path) }
    }

    /// A round in this process.
    func publication(
        _ hosts: [DialedHost], _ clock: any WallClock, rules: PublishingRound.Rules = .init(),
        ask: @escaping @Sendable (DialedHost) async -> PublishingRound.Answer
    ) throws -> TrustServerPublication {
        TrustServerPublication(
            customer: "acme", key: try key,
            files: TrustServerFiles(customer: "acme", data: file("data").path, output: file("output").path),
            hosts: .success(hosts), backups: .success(rules.backups),
            clients: .success(RoundClients(appVersions: .noShippedPins)), rules: rules, hostsAtOnce: 4, clock: clock,
            gate: StopGate(), ask: ask)
    }

    /// Whether a publisher holds the lock of what is written.
    var isLocked: Bool {
        let descriptor = unsafe open(file("data/.acme.hosts.json.lock").path, O_RDONLY | O_CLOEXEC)
        // No publisher has asked for it yet.
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) != 0
    }

    func mode(_ name: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: file(name).path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue
    }

    /// Makes the key as `--first-run` does, in the folders of a customer.
    @discardableResult
    static func makeKey(in folder: URL) throws -> TrustServerKey {
        try TrustServerFiles(
            customer: "acme", data: folder.appending(path: "data").path, output: folder.appending(path: "output").path
        ).makeKey(.p256, at: SystemWallClock().now)
    }

    static func with(_ body: (TrustServerSite) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(
                at: folder.appending(path: "data"), withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
            let key = try makeKey(in: folder)
            let root = try TestAuthority.root()
            let leaf = try root.intermediate().leaf(names: [.address([127, 0, 0, 1])])
            let site = TrustServerSite(folder: folder, root: root, leaf: leaf, certificate: key.certificate)
            try site.write("root.pem", root.certificate.pem)
            try await body(site)
        }
    }
}
