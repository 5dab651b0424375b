import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastPublishing
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

/// The verbs that publish, watch or export pins, at a host that shows a pinned key, another one, or nothing.
@Suite("Verbs that ask the hosts of a publication", .timeLimit(.minutes(15)))
struct AskedHostsTests {
    private static func place(_ port: Int) -> [String] {
        ["--ca", "root.pem", "--connect-to", "127.0.0.1:\(port)", "--timeout", "60s"]
    }

    /// Runs a verb and compares its exit code.
    @discardableResult
    private static func run(
        _ site: SigningSite, _ arguments: [String], status: Int32, at line: SourceLocation = #_sourceLocation
    ) async throws -> CommandRun {
        let run = try await site.run(arguments)
        #expect(run.status == status, "\(arguments): \(run.output)\(run.errors)", sourceLocation: line)
        return run
    }

    @Test("repository status is good only if clients get in, renew renews in any case, and both say what nobody knows")
    func statusAndRenew() async throws {
        try await SigningSite.with { site in
            let (leaf, other) = (try site.leaf("leaf.pem"), try site.leaf("other.pem"))
            try await site.beginPublishedRepository(active: leaf, backup: try site.leaf("b.pem"))
            let folder = TUFRepositoryFolder(site.folder.appending(path: "site"))
            func version() async throws -> Int64? { try await folder.state().live?.timestamp.version }
            let (status, renew) = (
                ["repository", "status", "site", "--no-shipped-pins"],
                ["repository", "renew", "site", "--key", "online.pem", "--no-shipped-pins"]
            )
            try await withLoopbackTLSServer(serving: leaf) { server in
                let place = Self.place(server.port)
                let good = try await Self.run(site, status + place, status: 0)
                #expect(good.lines.first == "Clients accept it, and clients get in at every host that was asked")
                try await Self.run(site, status + place + ["--watch", "10d", "--quiet"], status: 0)
                try await Self.run(site, renew + place, status: 0)
                try server.serve(other)
                let refused = try await Self.run(site, status + place, status: 1)
                #expect(refused.output.hasPrefix("CLIENTS ARE LOCKED OUT: www.example.com:443 at 127.0.0.1"))
                let json = try await Self.run(site, status + place + ["--json"], status: 1)
                #expect(json.output.contains("\"kind\":\"refused\"") && json.output.contains("\"premises\":["))
                let before = try await version()
                let renewed = try await Self.run(site, renew + place, status: 1)
                #expect(renewed.output.hasPrefix("CLIENTS ARE LOCKED OUT") && renewed.errors.contains("Renewed: "))
                #expect(try await version() == before.map { $0 + 1 })
            }
            let silent = try await Self.run(site, status + Self.place(1), status: 3)
            #expect(silent.output.hasPrefix("Nobody knows whether clients get in: www.example.com:443"))
            #expect(silent.output.contains("127.0.0.1:1: connection refused"), "\(silent.output)")
            let before = try await version()
            try await Self.run(site, renew + Self.place(1), status: 3)
            #expect(try await version() == before.map { $0 + 1 })
            // An unknown answer is never good.
            let offline = try await Self.run(site, status + ["--offline"], status: 3)
            #expect(offline.lines.first == "Clients accept it; no host was asked whether clients get in")
        }
    }

    @Test("The pins of the app versions in the field must let clients in too, and without a word on them nobody knows")
    func appVersions() async throws {
        try await SigningSite.with { site in
            let (leaf, other) = (try site.leaf("leaf.pem"), try site.leaf("other.pem"))
            try await site.beginPublishedRepository(active: leaf, backup: try site.leaf("b.pem"))
            for (name, certificate) in [("good.json", leaf), ("bad.json", other)] {
                let host = try PinFile.Host(
                    HostPattern(SigningSite.name), pins: [PinFile.KeyPin(Pin.publicKey(of: certificate.der))])
                try site.write(name, String(decoding: try PinFile(hosts: [host]).json, as: UTF8.self))
            }
            try await withLoopbackTLSServer(serving: leaf) { server in
                for verb in [
                    ["repository", "status", "site"], ["repository", "renew", "site", "--key", "online.pem"],
                ] {
                    let verb = verb + Self.place(server.port)
                    let unsaid = try await Self.run(site, verb, status: 3)
                    #expect(
                        unsaid.output.hasPrefix("Nobody knows whether clients get in: app versions unknown"),
                        "\(unsaid.output)")
                    #expect(unsaid.errors.contains("--no-shipped-pins"), "\(unsaid.errors)")
                    try await Self.run(site, verb + ["--shipped", "7.4"], status: 0)
                    try await Self.run(site, verb + ["--shipped", "7.4=good.json"], status: 0)
                    let refused = try await Self.run(
                        site, verb + ["--shipped", "7.4=good.json", "--shipped", "7.3=bad.json"], status: 1)
                    #expect(refused.output.hasPrefix("CLIENTS ARE LOCKED OUT"), "\(refused.output)")
                    #expect(refused.output.contains("bad.json"), "\(refused.output)")
                    try await Self.run(site, verb + ["--shipped", "7.4", "--no-shipped-pins"], status: 2)
                }
            }
        }
    }

    @Test("repository sign does not sign pins with which clients would be locked out, unless --force says so")
    func sign() async throws {
        try await SigningSite.with { site in
            let (leaf, other) = (try site.leaf("leaf.pem"), try site.leaf("other.pem"))
            try await site.beginRepository(active: leaf, backup: try site.leaf("b.pem"))
            try await site.repository("pins", "site", "bank.pins.json")
            let sign = ["repository", "sign", "site", "--key", "offline.pem", "--no-shipped-pins"]
            let folder = TUFRepositoryFolder(site.folder.appending(path: "site"))
            func isSigned() async throws -> Bool {
                try await folder.state().progress().allSatisfy { $0.signed.count >= $0.threshold }
            }
            try await withLoopbackTLSServer(serving: other) { server in
                let place = Self.place(server.port)
                let refused = try await Self.run(site, sign + place, status: 1)
                #expect(refused.errors.contains("refused: www.example.com:443"), "\(refused.errors)")
                #expect(refused.errors.contains("nothing was signed"))
                // An option that overrides the unknown does not override a mismatch that was seen.
                try await Self.run(site, sign + place + ["--force", "unreachable"], status: 1)
                #expect(try await !isSigned())
                try await Self.run(site, sign + Self.place(1), status: 3)
                #expect(try await !isSigned())
                let forced = try await Self.run(site, sign + Self.place(1) + ["--force", "unreachable"], status: 0)
                #expect(forced.errors.contains("warning: unreachable: "))
                #expect(try await isSigned())
                try await site.repository("pins", "site", "bank.pins.json")
                try server.serve(leaf)
                let good = try await Self.run(site, sign + place, status: 0)
                #expect(!good.errors.contains("unreachable"), "\(good.errors)")
                #expect(try await isSigned())
            }
        }
    }

    @Test("repository pins neither prepares nor signs pins that lock clients out, and asks nobody without a key")
    func pins() async throws {
        try await SigningSite.with { site in
            let (leaf, other) = (try site.leaf("leaf.pem"), try site.leaf("other.pem"))
            try await site.beginPublishedRepository(active: leaf, backup: try site.leaf("b.pem"))
            let pins = ["repository", "pins", "site", "bank.pins.json"]
            let signing = pins + ["--key", "offline.pem", "--no-shipped-pins"]
            let folder = TUFRepositoryFolder(site.folder.appending(path: "site"))
            func isPrepared() async throws -> Bool { try await !folder.state().hasNoDraft }
            try await withLoopbackTLSServer(serving: other) { server in
                let place = Self.place(server.port)
                let refused = try await Self.run(site, signing + place, status: 1)
                #expect(refused.errors.contains("refused: www.example.com:443"), "\(refused.errors)")
                #expect(refused.errors.contains("nothing was prepared"))
                try await Self.run(site, signing + place + ["--force", "unreachable"], status: 1)
                try await Self.run(site, signing + Self.place(1), status: 3)
                #expect(try await !isPrepared())
                try await Self.run(site, pins, status: 0)
                #expect(try await isPrepared())
                try server.serve(leaf)
                try await Self.run(site, signing + place, status: 0)
            }
            #expect(try await folder.state().progress().allSatisfy { $0.signed.count >= $0.threshold })
        }
    }

    @Test("export prints no pins with which clients are locked out, or of which nobody knows, unless --force says so")
    func export() async throws {
        try await SigningSite.with { site in
            let (leaf, other) = (try site.leaf("leaf.pem"), try site.leaf("other.pem"))
            let host = try PinFile.Host(
                HostPattern(SigningSite.name),
                pins: [
                    PinFile.KeyPin(Pin.publicKey(of: leaf.der)),
                    PinFile.KeyPin(Pin.publicKey(of: site.leaf("b.pem").der), state: .backup),
                ])
            try site.write("bank.pins.json", String(decoding: try PinFile(hosts: [host]).json, as: UTF8.self))
            let export = ["export", "bank.pins.json", "--format", "android"]
            try await withLoopbackTLSServer(serving: leaf) { server in
                let place = Self.place(server.port)
                let good = try await Self.run(site, export + place, status: 0)
                #expect(good.output.contains("pin-set") && !good.errors.contains("warning"), "\(good.errors)")
                try server.serve(other)
                let refused = try await Self.run(site, export + place, status: 1)
                #expect(refused.output.isEmpty && refused.errors.contains("nothing was exported"), "\(refused.errors)")
                let forced = try await Self.run(site, export + place + ["--force", "refused"], status: 0)
                #expect(forced.output.contains("pin-set") && forced.errors.contains("warning: refused: "))
            }
            let silent = try await Self.run(site, export + Self.place(1), status: 3)
            #expect(silent.output.isEmpty && silent.errors.contains("unreachable: "), "\(silent.errors)")
            try await Self.run(site, export + Self.place(1) + ["--force", "unreachable"], status: 0)
            let offline = try await Self.run(site, export + ["--force", "offline"], status: 0)
            #expect(offline.errors.contains("warning: offline: no host was asked"))
        }
    }

    @Test("Pins that ran out are not exported, whether a host is asked or not")
    func exportOfOldPins() async throws {
        try await SigningSite.with { site in
            let leaf = try site.leaf("leaf.pem")
            let now = SystemWallClock().now
            func write(ended days: Double, grace: Int) throws {
                let host = try PinFile.Host(
                    HostPattern(SigningSite.name), pins: [PinFile.KeyPin(Pin.publicKey(of: leaf.der))])
                let file = try PinFile(
                    issuedAt: now.addingTimeInterval(-90 * 86_400), notAfter: now.addingTimeInterval(-days * 86_400),
                    refresh: PinFile.Refresh(after: 21_600, grace: grace), hosts: [host])
                try site.write("old.json", String(decoding: file.json, as: UTF8.self))
            }
            let export = ["export", "old.json", "--format", "okhttp", "--lossy"]
            try write(ended: 2, grace: 86_400)
            for more in [["--force", "offline"], ["--force", "unreachable"] + Self.place(1), Self.place(1)] {
                let run = try await Self.run(site, export + more, status: 1)
                #expect(run.output.isEmpty && run.errors.contains("the pins ran out"), "\(run.errors)")
            }
            let forced = try await Self.run(
                site, export + ["--force", "refused", "--force", "offline"], status: 0)
            #expect(forced.output.contains("CertificatePinner") && forced.errors.contains("warning: refused: "))
            // By grace they count, and it is said.
            try write(ended: 2, grace: 7 * 86_400)
            let grace = try await Self.run(site, export + ["--force", "offline"], status: 0)
            #expect(grace.errors.contains("get in by grace until "), "\(grace.errors)")
        }
    }
}
