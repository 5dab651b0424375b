import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastProbe
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// An operator's folder with certbot, a pebble that issues whatever it is asked for, and an nginx that serves what the
/// manual's script has installed.
struct ACMESite {
    static let name = "www.example.com"

    /// Whether the programs are there.
    static let canRun = ["certbot", "pebble", "nginx", "curl"].allSatisfy { find($0) != nil }

    let folder: URL
    /// The folder into which certbot writes.
    let live = "conf/live/\(ACMESite.name)"
    private let acme: Int
    private let web: Int

    private static let path = "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin:/opt/homebrew/bin"

    private static func find(_ name: String) -> String? {
        path.split(separator: ":").map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Starts everything, with a first certificate that is served and pinned.
    static func with(reusesKey: Bool, _ body: (ACMESite) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            // Neither pebble nor nginx can choose a free port.
            let ports = [try HeldPort(), try HeldPort(), try HeldPort()]
            defer { withExtendedLifetime(ports) {} }
            let (acme, management, web) = (ports[0].number, ports[1].number, ports[2].number)
            let pebble = try await pebble(in: folder, acme: acme, management: management)
            defer { pebble.end() }
            let site = ACMESite(folder: folder, acme: acme, web: web)
            try await site.prepare(reusesKey: reusesKey, management: management)
            try await site.startWebServer()
            let result: Result<Void, any Error>
            do { result = .success(try await body(site)) } catch { result = .failure(error) }
            _ = try? await site.stopWebServer()
            try result.get()
        }
    }

    // MARK: What the operator does

    /// Asks for a new certificate, whatever is left of the old one. The script is certbot's hook.
    func renew() async throws -> CommandRun {
        try await shell(
            "certbot renew --force-renewal --no-random-sleep-on-renew --deploy-hook \"$PWD/install-certificate\" "
                + Self.folders)
    }

    /// Runs the script, as the timer does.
    func install() async throws -> CommandRun { try await shell("./install-certificate") }

    /// Ships an app that pins the keys of these certificates.
    func pin(_ files: String...) async throws {
        let run = try await shell(
            "holdfastctl pin \(files.joined(separator: " ")) --certificates leaf --format json --host \(Self.name)")
        try #require(run.status == 0, "\(run.errors)")
        try write("bank.pins.json", run.output)
    }

    func startWebServer() async throws { try await must("nginx -c \"$PWD/nginx.conf\" -p \"$PWD\"") }

    func stopWebServer() async throws {
        // The process has gone when its file has.
        try await must(
            "nginx -c \"$PWD/nginx.conf\" -p \"$PWD\" -s stop; for i in $(seq 100); do [ -e pid ] || exit 0; sleep 0.1; done; exit 1"
        )
    }

    func restartWebServer() async throws {
        try await stopWebServer()
        try await startWebServer()
    }

    // MARK: What clients see

    /// The first certificate of a file.
    func leaf(_ file: String) throws -> [UInt8] {
        let data = try Data(contentsOf: folder.appending(path: file))
        return Array(try #require(CertificateFile.certificates(in: data, named: file).first).der)
    }

    /// The certificate that a client gets now.
    func served() async throws -> [UInt8]? {
        let root = try Data(contentsOf: folder.appending(path: "root.pem"))
        let anchors = TrustAnchors(try CertificateFile.certificates(in: root, named: "root.pem"))
        var probe = HostProbe(validator: PathValidator(anchors: anchors))
        probe.connectTo = try DialedHost("127.0.0.1", port: web)
        let host = try DialedHost(Self.name)
        let shown = await probe.ask(host, policy: StandardPolicy(host: HostPattern(host))).shown
        #expect(shown.allSatisfy { $0.decision.isTrusted })
        return shown.first?.decision.chain?.leaf
    }

    /// After it reloads its files, nginx answers with the old ones for a moment, and says nothing when that is over. To
    /// ask without a pause would take the time away from it where cores are few.
    func waitUntilServed(_ leaf: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let end = ContinuousClock.now + .seconds(300)
        var served = try await served()
        while served != leaf, .now < end {
            try await Task.sleep(for: .milliseconds(100))
            served = try await self.served()
        }
        #expect(served == leaf, sourceLocation: sourceLocation)
    }

    // MARK: Preparation

    private static let folders = "--config-dir conf --work-dir work --logs-dir logs"

    private func write(_ file: String, _ text: String) throws {
        try Data(text.utf8).write(to: folder.appending(path: file))
    }

    private func prepare(reusesKey: Bool, management: Int) async throws {
        let tools = folder.appending(path: "tools")
        try FileManager.default.createDirectory(at: tools, withIntermediateDirectories: false)
        // It finds the name on loopback and trusts pebble; the words of the commands are the manual's.
        try await ExecutableScript.write(
            """
            #!/bin/bash
            case "$1" in
                gate) exec "\(try #require(CommandRun.program).path)" "$@" --ca "$SITE/root.pem" \
            --connect-to "127.0.0.1:\(web)" --timeout 60s ;;
                *) exec "\(try #require(CommandRun.program).path)" "$@" ;;
            esac
            """, to: tools.appending(path: "holdfastctl"))
        let script = try OperatingManual.block("install-certificate")
            .replacingOccurrences(of: "/etc/letsencrypt", with: "\(folder.path)/conf")
            .replacingOccurrences(of: "/srv/tls", with: "\(folder.path)/srv")
            .replacingOccurrences(of: "/srv/pins", with: folder.path)
            .replacingOccurrences(of: "nginx -s", with: "nginx -c \(folder.path)/nginx.conf -p \(folder.path) -s")
        try await ExecutableScript.write(script, to: folder.appending(path: "install-certificate"))
        try await must(
            "curl --silent --fail --retry 8 --retry-all-errors --cacert acme-root.pem https://127.0.0.1:\(management)/roots/0 > root.pem"
        )
        try await must(
            "certbot certonly -n --manual --preferred-challenges http --manual-auth-hook /bin/true --key-type ecdsa "
                + "--server https://127.0.0.1:\(acme)/dir -d \(Self.name) --agree-tos "
                + "--register-unsafely-without-email \(reusesKey ? "--reuse-key" : "") \(Self.folders)")
        // The first certificate is copied by hand.
        try await must(
            "mkdir -p srv/first && cp \(live)/fullchain.pem \(live)/privkey.pem srv/first && ln -s first srv/current")
        try await pin("srv/current/fullchain.pem")
        let scratch = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(folder.path)/\($0);" }.joined(separator: " ")
        try write(
            "nginx.conf",
            """
            \(getuid() == 0 ? "user root;" : "") pid \(folder.path)/pid; error_log \(folder.path)/log; events {}
            http { access_log off; \(scratch) server { listen 127.0.0.1:\(web) ssl;
            ssl_certificate \(folder.path)/srv/current/fullchain.pem;
            ssl_certificate_key \(folder.path)/srv/current/privkey.pem;
            } }
            """)
    }

    private func must(_ line: String) async throws {
        let run = try await shell(line)
        try #require(run.status == 0, "\(line): \(run.output) \(run.errors)")
    }

    private func shell(_ line: String) async throws -> CommandRun {
        try await CommandRun.run(
            URL(filePath: "/bin/bash"), ["-uc", line],
            environment: [
                "PATH": "\(folder.path)/tools:\(Self.path)", "SITE": folder.path,
                "REQUESTS_CA_BUNDLE": "\(folder.path)/acme-root.pem", "HOME": folder.path,
            ], in: folder, limit: .seconds(600))
    }

    // MARK: Pebble

    private static func pebble(in folder: URL, acme: Int, management: Int) async throws -> GuardedProcess {
        let root = try TestAuthority.root()
        let leaf = try root.leaf(names: [.address([127, 0, 0, 1])])
        for (file, text) in [
            ("acme-root.pem", root.certificate.pem), ("acme.pem", leaf.chainPEM), ("acme.key", leaf.key.privateKeyPEM),
            (
                "pebble.json",
                """
                {"pebble": {"listenAddress": "127.0.0.1:\(acme)", "managementListenAddress": "127.0.0.1:\(management)",
                "certificate": "acme.pem", "privateKey": "acme.key", "httpPort": 1, "tlsPort": 1}}
                """
            ),
        ] { try Data(text.utf8).write(to: folder.appending(path: file)) }
        // It issues without asking, and does not refuse nonces to see what happens. It ends with the test, however long
        // that waits for its turn on a busy machine.
        let process = try GuardedProcess(
            URL(filePath: "/bin/bash"),
            [
                "-c",
                "PEBBLE_VA_ALWAYS_VALID=1 PEBBLE_VA_NOSLEEP=1 PEBBLE_WFE_NONCEREJECT=0 "
                    + "exec pebble -config pebble.json > >(sed -u 's/^Pebble [^ ]* [^ ]* //') 2>&1",
            ], in: folder, limit: .seconds(3_600))
        _ = try await process.firstLine(startingWith: "ACME directory available")
        return process
    }
}
