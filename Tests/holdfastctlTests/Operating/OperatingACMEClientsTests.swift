import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastProbe
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// The statements of docs/renewals.md about acme.sh and Caddy, each with the manual's script; CertbotGateTests run it
/// with certbot and nginx.
@Suite("The operator's manual, ACME clients other than certbot", .timeLimit(.minutes(10)))
struct OperatingACMEClientsTests {
    /// The texts between backticks in a row of the manual's table.
    private static func commands(inRowWith word: String) throws -> [String] {
        let row = try #require(
            try OperatingManual.text.split(separator: "\n").first { $0.hasPrefix("| ") && $0.contains(word) })
        return row.matches(of: /`([^`]+)`/).map { String($0.1) }
    }

    /// The manual's script, in the folder of a site.
    /// - Parameters:
    ///   - from: the folder into which the client writes.
    ///   - reload: the command that reloads the web server.
    private static func script(_ block: String, in site: OperatingSite, from: String, reload: String) -> String {
        block.replacing("/etc/letsencrypt/live/$name", with: "\(site.folder.path)/\(from)")
            .replacing("/srv/tls", with: "\(site.folder.path)/srv")
            .replacing("/srv/pins", with: site.folder.path)
            .replacing("nginx -s reload", with: reload)
    }

    private static func write(_ certificate: TestCertificate, to folder: String, of site: OperatingSite) throws {
        try FileManager.default.createDirectory(
            at: site.folder.appending(path: folder), withIntermediateDirectories: true)
        try site.write("\(folder)/fullchain.pem", certificate.chainPEM)
        try site.write("\(folder)/privkey.pem", certificate.key.privateKeyPEM)
    }

    /// A site whose pins are those of what it serves and of its backup key, with the first certificate copied by hand.
    private static func with(
        _ body: (OperatingSite, _ present: TestCertificate, _ pinned: TestCertificate) async throws -> Void
    ) async throws {
        try await OperatingSite.with { site in
            let present = try site.leaf()
            try await site.run("first-pins", serving: present)
            try write(present, to: "srv/first", of: site)
            try FileManager.default.createSymbolicLink(
                atPath: site.folder.appending(path: "srv/current").path, withDestinationPath: "first")
            try await body(site, present, try site.leaf(.existing(try site.key("backup.key"))))
        }
    }

    private static func installed(_ site: OperatingSite) throws -> String {
        try ["fullchain.pem", "privkey.pem"].map {
            try String(contentsOf: site.folder.appending(path: "srv/current/\($0)"), encoding: .utf8)
        }.joined()
    }

    // MARK: acme.sh

    /// No acme.sh, but a stand-in: Debian does not have that program. As its documentation and its code say, it copies what
    /// it has fetched into the files that the options name, and then evaluates the command in the folder of the name, without
    /// arguments, with CERT_PATH, CERT_KEY_PATH, CA_CERT_PATH, CERT_FULLCHAIN_PATH and Le_Domain in the environment. If the
    /// command fails, so does the stand-in.
    private static let standIn = #"""
        #!/bin/bash
        set -eu
        [ "$1" = --install-cert ] || exit 64
        shift
        while [ $# -gt 0 ]; do
            case "$1" in
                -d) domain=$2 ;;
                --key-file) key=$2 ;;
                --fullchain-file) chain=$2 ;;
                --reloadcmd) reload=$2 ;;
                *) exit 64 ;;
            esac
            shift 2
        done
        home=$SITE/.acme.sh/${domain}_ecc
        (umask 077; cat "$home/$domain.key" > "$key")
        cat "$home/fullchain.cer" > "$chain"
        (
            export CERT_PATH=$home/$domain.cer CERT_KEY_PATH=$home/$domain.key CA_CERT_PATH=$home/ca.cer
            export CERT_FULLCHAIN_PATH=$home/fullchain.cer Le_Domain=$domain
            cd "$home" && eval "$reload"
        ) || { echo "Reload error for: $domain" >&2; exit 1; }
        """#

    @Test(
        "acme.sh, for which a stand-in stands, has the script install what every client accepts, and nothing else",
        .needs(.gnuTools))
    func acmeSh() async throws {
        let command = try #require(try Self.commands(inRowWith: "acme.sh --install-cert").first)
        try await Self.with { site, present, pinned in
            try await ExecutableScript.write(Self.standIn, to: site.folder.appending(path: "tools/acme.sh"))
            let first = try Self.installed(site)
            for (next, status) in [(try site.leaf(), Int32(1)), (pinned, 0), (pinned, 0)] {
                let home = ".acme.sh/\(OperatingSite.name)_ecc"
                try FileManager.default.createDirectory(
                    at: site.folder.appending(path: home), withIntermediateDirectories: true)
                try site.write("\(home)/fullchain.cer", next.chainPEM)
                try site.write("\(home)/\(OperatingSite.name).key", next.key.privateKeyPEM)
                let run = try await site.run("install-certificate", serving: present, expecting: status) { block in
                    """
                    mkdir -p acme/www
                    cat > install-certificate <<'END'
                    \(Self.script(block, in: site, from: "acme/www", reload: "echo reloaded >> '\(site.folder.path)/reloads'"))
                    END
                    chmod +x install-certificate
                    \(command.replacing("/var/lib/acme", with: "\(site.folder.path)/acme")
                        .replacing("/usr/local/sbin", with: site.folder.path))
                    """
                }
                #expect(run.output.contains("Not yet: ") == (status == 1), "\(run.output)\(run.errors)")
                #expect(try Self.installed(site) == (status == 1 ? first : next.chainPEM + next.key.privateKeyPEM))
            }
            // An installed certificate is not installed again.
            let reloads = try String(contentsOf: site.folder.appending(path: "reloads"), encoding: .utf8)
            #expect(reloads == "reloaded\n")
        }
    }

    // MARK: Caddy

    @Test(
        "Caddy serves what the script has installed, also if somebody has it read its files before",
        .needs(.caddy), .needs(.gnuTools))
    func caddy() async throws {
        let row = try Self.commands(inRowWith: "caddy reload")
        let (files, reload) = (try #require(row.first), try #require(row.last))
        try #require(files.hasPrefix("tls ") && reload.hasPrefix("caddy reload "))
        try await Self.with { site, present, pinned in
            let held = try HeldPort()
            let program = try await Self.startCaddy(with: files, on: site, at: held)
            defer {
                program.end()
                withExtendedLifetime(held) {}
            }
            let port = held.number
            try await Self.waitUntilServed(present, site, port)

            let told = reload.replacing("/etc/caddy/Caddyfile", with: "\(site.folder.path)/Caddyfile")
            func install(_ next: TestCertificate, expecting status: Int32) async throws {
                try Self.write(next, to: "next", of: site)
                let block = try OperatingManual.block("install-certificate")
                // By a shell of its own, which stops only where the script says so.
                let text = Self.script(block, in: site, from: "next", reload: told)
                let run = try await site.run(
                    "cat > job <<'END'\n\(text)END\nsh job\n", named: "install-certificate", port: port,
                    expecting: status)
                #expect(run.output.hasPrefix("Not yet: ") == (status == 75), "\(run.output)\(run.errors)")
            }
            try await install(site.leaf(), expecting: 75)
            try await site.run("\(told)\n", named: "reload", port: port, expecting: 0)
            try await Self.waitUntilServed(present, site, port)
            try await install(pinned, expecting: 0)
            try await Self.waitUntilServed(pinned, site, port)
        }
    }

    private static func startCaddy(
        with files: String, on site: OperatingSite, at port: HeldPort
    ) async throws -> GuardedProcess {
        let folder = site.folder.path
        try site.write(
            "Caddyfile",
            """
            {
            \tadmin unix/\(folder)/admin
            \tauto_https off
            \tservers {
            \t\tprotocols h1 h2
            \t}
            }
            https://\(OperatingSite.name):\(port.number) {
            \tbind 127.0.0.1
            \t\(files.replacing("/srv/tls", with: "\(folder)/srv"))
            }

            """)
        // It says everything on standard error, in JSON.
        let program = try GuardedProcess(
            URL(filePath: "/bin/bash"),
            [
                "-c",
                "HOME=$PWD exec caddy run --config Caddyfile > >(sed -u 's/.*serving initial configuration.*/serving/') 2>&1",
            ], in: site.folder, limit: .seconds(3_600))
        _ = try await program.firstLine(startingWith: "serving")
        return program
    }

    /// After `caddy reload` has ended, Caddy answers with the old configuration for a moment, and on a busy machine for a
    /// longer one. To ask without a pause would take the time away from it where cores are few.
    private static func waitUntilServed(
        _ certificate: TestCertificate, _ site: OperatingSite, _ port: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let end = ContinuousClock.now + .seconds(300)
        var shown = try await served(site, port)
        while shown != certificate.der, .now < end {
            try await Task.sleep(for: .milliseconds(100))
            shown = try await served(site, port)
        }
        #expect(shown == certificate.der, sourceLocation: sourceLocation)
    }

    /// The certificate that a client gets; nil if there is none.
    private static func served(_ site: OperatingSite, _ port: Int) async throws -> [UInt8]? {
        var probe = HostProbe(validator: try site.validator)
        probe.connectTo = try DialedHost("127.0.0.1", port: port)
        let host = try DialedHost(OperatingSite.name)
        return await probe.ask(host, policy: StandardPolicy(host: HostPattern(host))).shown.first?.decision.chain?.leaf
    }
}
