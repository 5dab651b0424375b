import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation

/// A host with certbot, a pebble that issues whatever it is asked for, and an nginx that shows what the script of
/// `docs/server/operating.md` has installed.
struct ACMEHost {
    private static let programs = ["certbot", "pebble", "nginx", "curl", "openssl", "python3"]
    static let isTested = programs.allSatisfy(ForeignProgram.isTested)

    let folder: URL
    /// Where nginx listens.
    let web: Int
    /// DER of the root of what pebble issues.
    let anchor: [UInt8]

    private static let live = "conf/live/\(World.host)"

    /// Starts everything, with a first certificate that is shown.
    static func run(reusesKey: Bool, _ body: (ACMEHost) async throws -> Void) async throws {
        try await withFolder { folder in
            // Neither pebble nor nginx can choose any free port.
            let ports = [try HeldPort(), try HeldPort(), try HeldPort()]
            defer { withExtendedLifetime(ports) {} }
            let (acme, management, web) = (ports[0].number, ports[1].number, ports[2].number)
            let pebble = try await pebble(in: folder, acme: acme, management: management)
            func must(_ line: String) async throws { try await Self.must(line, in: folder) }
            try await must(
                "curl --silent --fail --retry 8 --retry-all-errors --cacert acme-root.pem "
                    + "https://127.0.0.1:\(management)/roots/0 > root.pem")
            try await must(
                "certbot certonly -n --manual --preferred-challenges http --manual-auth-hook /bin/true "
                    + "--key-type ecdsa --server https://127.0.0.1:\(acme)/dir -d \(World.host) --agree-tos "
                    + "--register-unsafely-without-email \(reusesKey ? "--reuse-key" : "") \(folders)")
            // The first certificate is copied by hand.
            try await must(
                "mkdir -p srv/tls/first holdfast && cp \(live)/fullchain.pem \(live)/privkey.pem srv/tls/first "
                    + "&& ln -s first srv/tls/current")
            try Data(nginx(in: folder, on: web).utf8).write(to: folder.appending(path: "nginx.conf"))
            // Foundation takes a program for running as long as one that it started has the files that it inherited.
            try await must(
                "python3 -c 'import os, sys; os.closerange(3, 65536); os.execvp(\"nginx\", sys.argv[1:])' "
                    + "nginx -c \"$PWD/nginx.conf\" -p \"$PWD\"")
            let anchor = try #require(try certificates("root.pem", in: folder).first)
            let host = ACMEHost(folder: folder, web: web, anchor: anchor)
            let result: Result<Void, any Error>
            do { result = .success(try await body(host)) } catch { result = .failure(error) }
            try? await must("nginx -c \"$PWD/nginx.conf\" -p \"$PWD\" -s stop")
            pebble.signal(SIGKILL)
            _ = await pebble.status()
            try result.get()
        }
    }

    // MARK: What the operator does

    /// Writes the script, for an administration on loopback.
    func install(_ script: String, asking port: Int, with token: String) async throws {
        let fitted =
            script
            .replacing("/etc/letsencrypt", with: "\(folder.path)/conf")
            .replacing("/etc/holdfast", with: "\(folder.path)/holdfast")
            .replacing("/srv/tls", with: "\(folder.path)/srv/tls")
            .replacing("https://pins.example.com:8081", with: "http://127.0.0.1:\(port)")
            .replacing("apps/bank", with: "apps/shop")
            .replacing("$server/next\"", with: "$server/next?port=\(web)\"")
            .replacing("/ready\"", with: "/ready?port=\(web)\"")
            .replacing("nginx -s", with: "nginx -c \(folder.path)/nginx.conf -p \(folder.path) -s")
        try await ExecutableScript.write(fitted, to: folder.appending(path: "announce-certificate"))
        try await ExecutableScript.write(
            "Authorization: Bearer \(token)\n", to: folder.appending(path: "holdfast/renewals.header"), mode: "600")
    }

    /// Asks for a new certificate, whatever is left of the old one. The script is certbot's hook.
    func renew() async throws {
        try await Self.must(
            "certbot renew --force-renewal --no-random-sleep-on-renew --deploy-hook \"$PWD/announce-certificate\" "
                + Self.folders, in: folder)
    }

    /// Runs the script, as the timer does.
    /// That it is not ready yet, 75, is an answer as well.
    func runScript() async throws -> String {
        try await Self.must("./announce-certificate || [ $? = 75 ]", in: folder)
    }

    /// Runs the script, which must install what was fetched, and call people by its exit code.
    func runUrgentScript() async throws -> String {
        try await Self.must("code=0; ./announce-certificate 2>&1 || code=$?; [ $code = 5 ]", in: folder)
    }

    /// The chain that certbot fetched last.
    func fetched() throws -> [[UInt8]] { try Self.certificates("\(Self.live)/fullchain.pem", in: folder) }

    /// The chain that is installed.
    func installed() throws -> [[UInt8]] { try Self.certificates("srv/tls/current/fullchain.pem", in: folder) }

    private static func certificates(_ file: String, in folder: URL) throws -> [[UInt8]] {
        let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
        return try text.components(separatedBy: "-----BEGIN CERTIFICATE-----\n").dropFirst().map { block in
            let lines = block.components(separatedBy: "-----END")[0].replacing("\n", with: "")
            return Array(try #require(Data(base64Encoded: lines)))
        }
    }

    // MARK: Preparation

    private static let folders = "--config-dir conf --work-dir work --logs-dir logs"

    private static func nginx(in folder: URL, on port: Int) -> String {
        let scratch = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(folder.path)/\($0);" }.joined(separator: " ")
        return """
            \(getuid() == 0 ? "user root;" : "") pid \(folder.path)/pid; error_log \(folder.path)/log; events {}
            http { access_log off; \(scratch) server { listen 127.0.0.1:\(port) ssl;
            ssl_certificate \(folder.path)/srv/tls/current/fullchain.pem;
            ssl_certificate_key \(folder.path)/srv/tls/current/privkey.pem;
            } }
            """
    }

    @discardableResult
    private static func must(_ line: String, in folder: URL) async throws -> String {
        let (status, output) = try await ForeignProgram.run(
            ForeignProgram.required("bash"), ["-uc", line], in: folder, withErrors: true,
            environment: [
                "PATH": "/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin", "HOME": folder.path,
                "REQUESTS_CA_BUNDLE": "\(folder.path)/acme-root.pem",
            ])
        let words = String(decoding: output, as: UTF8.self)
        try #require(status == 0, "\(line): \(words)")
        return words
    }

    private static func pebble(in folder: URL, acme: Int, management: Int) async throws -> ServingProcess {
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
        // It issues without asking, and does not refuse nonces to see what happens.
        let process = try ServingProcess(
            [ForeignProgram.required("pebble").path, "-config", "pebble.json"], in: folder,
            environment: [
                "PEBBLE_VA_ALWAYS_VALID": "1", "PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "0",
            ])
        try await process.says("ACME directory available")
        return process
    }
}
