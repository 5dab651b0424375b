import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

/// An operator's folder, his authority, and the apps that are installed out there.
///
/// The manual's blocks run in the folder, in a shell whose `holdfastctl` finds www.example.com on loopback and trusts the
/// authority; the words of the commands are the manual's.
struct OperatingSite {
    static let name = "www.example.com"

    let folder: URL
    let root: TestAuthority
    let issuing: TestAuthority

    static func with(
        rootName: TestName = "Test Root", _ body: (OperatingSite) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let root = try TestAuthority.root(name: rootName)
            let site = OperatingSite(folder: folder, root: root, issuing: try root.intermediate())
            try site.write("root.pem", root.certificate.pem)
            let tools = folder.appending(path: "tools")
            try FileManager.default.createDirectory(at: tools, withIntermediateDirectories: false)
            let command = tools.appending(path: "holdfastctl")
            try await ExecutableScript.write(Self.command, to: command)
            try await body(site)
        }
    }

    /// Adds where the name is found and who issues for it, to the commands that connect or validate.
    private static let command = #"""
        #!/bin/bash
        place=(--ca "$SITE/root.pem" --connect-to "127.0.0.1:$SITE_PORT" --timeout 60s)
        if [ -n "${SITE_FLEET:-}" ]; then
            place=(--ca "$SITE/root.pem" --address 127.0.0.1 --address 127.0.0.2 --timeout 60s)
            case "$1" in check | pin) set -- "${@/#www.example.com/www.example.com:$SITE_PORT}" ;; esac
            # Without a host the command asks those of the pins, on their usual port.
            [ "$1 $2" != "check --pins" ] || set -- "$@" "www.example.com:$SITE_PORT"
        fi
        case "$1 $2" in
            "check --chain" | "pin --authority") exec "$HOLDFASTCTL" "$@" --ca "$SITE/root.pem" ;;
            "sign "*.pem) exec "$HOLDFASTCTL" "$@" --ca "$SITE/root.pem" ;;
            "check "* | "pin "* | "sign "* | "rollover "* | "gate "* | "list remove" | "pins remove" | "trust-server publish" | "repository pins" | "repository publish" | "repository renew" | "repository status") exec "$HOLDFASTCTL" "$@" "${place[@]}" ;;
            *) exec "$HOLDFASTCTL" "$@" ;;
        esac
        """#

    func write(_ file: String, _ text: String) throws { try Data(text.utf8).write(to: folder.appending(path: file)) }

    /// A key that the command has made.
    func key(_ file: String) throws -> TestKey {
        let pem = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
        // A signed big-endian number: a zero byte before a high one, no padding of a shorter number.
        let number = Array(try #require(Data(base64Encoded: try SigningKey(pem: pem).exportedPrivateKey)))
        let scalar = Array(number.suffix(32))
        return try TestKey(p256Scalar: Array(repeating: 0, count: 32 - scalar.count) + scalar)
    }

    func leaf(_ key: TestKey.Choice = .p256) throws -> TestCertificate {
        try issuing.leaf(names: [.dns(Self.name)], key: key)
    }

    /// Runs a script of the manual while the name serves a certificate.
    @discardableResult
    func run(
        _ block: String, serving leaf: TestCertificate, expecting status: Int32 = 0,
        _ adapt: (String) -> String = { $0 }, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> CommandRun {
        let script = adapt(try OperatingManual.block(block))
        return try await withLoopbackTLSServer(serving: leaf) { server in
            try await run(
                script, named: block, port: server.port, expecting: status,
                sourceLocation: sourceLocation)
        }
    }

    /// Runs a script of the manual while two servers of the name are up, on one port.
    @discardableResult
    func run(
        _ block: String, at fleet: LoopbackFleet, expecting status: Int32 = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> CommandRun {
        try await run(
            try OperatingManual.block(block), named: block, port: fleet.port, more: ["SITE_FLEET": "1"],
            expecting: status, sourceLocation: sourceLocation)
    }

    /// Runs a script while the caller serves the name on a port of loopback.
    @discardableResult
    func run(
        _ script: String, named block: String, port: Int, more: [String: String] = [:], expecting status: Int32,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> CommandRun {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let run = try await CommandRun.run(
            URL(filePath: "/bin/bash"), ["-euo", "pipefail", "-c", script],
            environment: [
                "HOLDFASTCTL": try #require(CommandRun.program).path, "SITE": folder.path,
                "SITE_PORT": "\(port)", "PATH": "\(folder.path)/tools:\(path)",
            ].merging(more) { $1 }, in: folder)
        #expect(
            run.status == status, "\(block): \(run.output) \(run.errors)", sourceLocation: sourceLocation)
        return run
    }

    var validator: PathValidator { get throws { PathValidator(anchors: try TrustAnchors(der: [root.root])) } }

    /// How many of the apps refuse a server with this certificate.
    func lockedOut(_ apps: [InstalledApp], by leaf: TestCertificate) throws -> Int {
        let host = try DialedHost(Self.name)
        let trust = ServerTrust(
            chain: PresentedChain(leaf.chain), purpose: .server(identity: host), validator: try validator)
        return apps.filter { !$0.policy.evaluate(trust, at: SystemWallClock().now).isTrusted }.count
    }
}

/// An app that was installed some time ago, with the pins that it has had since or has fetched last.
struct InstalledApp {
    let policy: any TrustPolicy
    private let fetch: @Sendable () async throws -> Void

    /// Looks for newer pins, as its schedule has it do.
    func update() async throws { try await fetch() }

    /// With the pin file that it came with, for as long as it is installed.
    static func shipping(_ file: String, of site: OperatingSite) throws -> InstalledApp {
        // Some procedures have no backup on purpose, which the manager says in the log.
        let manager = try PolicyLog.$shared.withValue(RecordingLog().policyLog) {
            try TrustManager(pinFile: site.folder.appending(path: file))
        }
        return InstalledApp(policy: try #require(manager.policy(for: OperatingSite.name))) {}
    }

    /// With a store of the signed list; it has fetched it once.
    static func fetchingList(
        _ file: String, signer: String = "signer.pub", of site: OperatingSite
    ) async throws -> InstalledApp {
        try await fetching(
            from: PublishedFile(url: site.folder.appending(path: file)), useChallenge: false, signer: signer, of: site)
    }

    /// With a store that challenges the server; it has done so once.
    static func challenging(_ site: OperatingSite) async throws -> InstalledApp {
        try await fetching(from: ChallengeServer(site: site), useChallenge: true, signer: "signer.pub", of: site)
    }

    private static func fetching(
        from provider: any RemoteDataProvider, useChallenge: Bool, signer: String, of site: OperatingSite
    ) async throws -> InstalledApp {
        let key = try String(contentsOf: site.folder.appending(path: signer), encoding: .utf8)
        let store = try CertStore(
            checking: CertStoreConfiguration(
                serviceURL: try #require(URL(string: "https://pins.example.net/pins.json")),
                publicKey: key.trimmingCharacters(in: .whitespacesAndNewlines), useChallenge: useChallenge),
            secureDataStore: InMemoryDataStore(), remoteDataProvider: provider, logger: RecordingLog().logger)
        let app = InstalledApp(policy: try store.policy(for: OperatingSite.name)) {
            _ = try await store.update(mode: .forced)
        }
        try await app.update()
        return app
    }

    /// With a store of the trust server's document; it has fetched it once.
    static func fetchingDocument(of site: OperatingSite) async throws -> InstalledApp {
        let certificate = try Data(contentsOf: site.folder.appending(path: "output/acme.crt"))
        var configuration = TrustServerConfiguration(
            url: try #require(URL(string: "https://pins.example.net/acme.json.signed")),
            signer: try TrustServerSigner(certificate: certificate), customer: "acme")
        configuration.secureDataStore = InMemoryDataStore()
        configuration.remoteDataProvider = PublishedFile(url: site.folder.appending(path: "output/acme.json.signed"))
        let store = try TrustServerStore(checking: configuration, logger: RecordingLog().logger)
        let app = InstalledApp(policy: try store.policy(for: OperatingSite.name, pinning: .certificate)) {
            _ = try await store.update(mode: .forced)
        }
        try await app.update()
        return app
    }
}

/// A file as a web server would serve it.
struct PublishedFile: RemoteDataProvider {
    let url: URL

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        RemoteDataResponse(.body(try Data(contentsOf: url)))
    }
}

/// The response of a server with the signing key's number: its list, signed for the challenge.
private struct ChallengeServer: RemoteDataProvider {
    let site: OperatingSite

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        func text(_ file: String) throws -> String {
            try String(contentsOf: site.folder.appending(path: file), encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
        let key = try SigningKey(exportedPrivateKey: text("signer.number"))
        let list = try FingerprintList(verifying: Data(text("pins.json").utf8), with: key.publicKey)
        let answer = try ChallengeSigner(key: key).answer(
            to: request.headers["X-Cert-Pinning-Challenge"], entries: list.entries, at: SystemWallClock().now)
        return RemoteDataResponse(.body(answer.body), headers: ["X-Cert-Pinning-Signature": answer.signature])
    }
}
