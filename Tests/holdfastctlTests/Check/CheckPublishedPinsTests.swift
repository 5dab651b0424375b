import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl check --pins and --chain", .timeLimit(.minutes(15)))
struct CheckPublishedPinsTests {
    private static func entry(
        _ name: String, _ certificate: [UInt8], days: Double = 30, depth: Int = 0
    ) throws -> FingerprintEntry {
        let end = SystemWallClock().now.timeIntervalSince1970 + days * 86_400
        return try FingerprintEntry(name: name, pin: .certificate(certificate), expires: Int64(end), depth: depth)
    }

    @Test("All hosts of a list are checked, and one that clients would be locked out of makes it 1")
    func list() async throws {
        try await SigningSite.with { site in
            let leaf = try site.leaf("leaf.pem", [.dns("www.example.com"), .dns("api.example.com")])
            let other = try site.leaf("other.pem")
            let issuer = site.issuing.certificate.der
            try await withLoopbackTLSServer(serving: leaf) { server in
                let arguments = [
                    "check", "--list", "pins.json", "--public-key", site.publicKey, "--no-shipped-pins", "--ca",
                    "root.pem",
                    "--connect-to", "127.0.0.1:\(server.port)", "--timeout", "60s",
                ]
                func check(_ entries: [FingerprintEntry], _ more: [String] = ["--json"]) async throws -> CommandRun {
                    try site.write(
                        "pins.json", String(decoding: try PinListDraft(entries).signed(by: site.key), as: UTF8.self))
                    return try await site.run(arguments + more)
                }
                let good = try await check([
                    try Self.entry("www.example.com", leaf.der, days: 20.5),
                    try Self.entry("*.example.com", leaf.der), try Self.entry("api.example.com", issuer, depth: 1),
                ])
                #expect(good.status == 0, "\(good.output)\(good.errors)")
                let lines = try good.lines.map { try JSONDecoder().decode(CheckLine.self, from: Data($0.utf8)) }
                #expect(lines.map(\.host) == ["api.example.com", "www.example.com"])
                // When the entry of the name ends, clients go by the wildcard.
                #expect((29...30).contains(lines.last?.published?.daysLeft ?? 0))
                let quiet = try await check([try Self.entry("www.example.com", leaf.der)], ["--quiet"])
                #expect(quiet.status == 0 && quiet.output.isEmpty && quiet.errors.isEmpty)

                // Clients go by the wildcard when nothing of the name itself counts anymore.
                let renewed = try await check([
                    try Self.entry("www.example.com", other.der, days: -1), try Self.entry("*.example.com", leaf.der),
                ])
                #expect(renewed.status == 0, "\(renewed.output)\(renewed.errors)")

                for wrong in [
                    try Self.entry("www.example.com", other.der), try Self.entry("www.example.com", leaf.der, days: -1),
                    try Self.entry("www.example.com", leaf.der, depth: 1), try Self.entry("www.example.com", issuer),
                ] {
                    let run = try await check([wrong, try Self.entry("api.example.com", leaf.der)])
                    #expect(run.status == 1, "\(run.output)")
                    let lines = try run.lines.map { try JSONDecoder().decode(CheckLine.self, from: Data($0.utf8)) }
                    #expect(lines.map { $0.published?.isLockedOut } == [false, true])
                    let quiet = try await check([wrong, try Self.entry("api.example.com", leaf.der)], ["--quiet"])
                    #expect(quiet.status == 1 && quiet.lines.count == 1, "\(quiet.output)")
                }
                let unsigned = try await site.run(arguments.map { $0 == site.publicKey ? "signer.pub" : $0 })
                #expect(unsigned.status == 2 || unsigned.status == 3)
            }
        }
    }

    @Test("A trust server's document is checked for both kinds of clients, and its age")
    func trustServer() async throws {
        try await TrustServerSite.with { site in
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                try site.write("data/acme.domains", "127.0.0.1:\(server.port)\n")
                #expect(try await site.publish().status == 0)
                let arguments = [
                    "check", "--trust-server", "output/acme.json.signed", "--signer", "output/acme.crt", "--customer",
                    "acme",
                    "--ca", "root.pem", "--no-shipped-pins", "--json",
                ]
                let good = try await CommandRun.inProcess(arguments, in: site.folder)
                #expect(good.status == 0, "\(good.output)\(good.errors)")
                let line = try good.json(CheckLine.self)
                #expect(line.host == "127.0.0.1" && line.published?.verdict == "in")
                try server.serve(try site.root.leaf(names: [.address([127, 0, 0, 1])]))
                let renewed = try await CommandRun.inProcess(arguments, in: site.folder)
                #expect(try renewed.status == 1 && (renewed.json(CheckLine.self)).published?.isLockedOut == true)
                let other = try await CommandRun.inProcess(
                    arguments.map { $0 == "acme" ? "umbrella" : $0 }, in: site.folder)
                #expect(other.status == 1 && other.errors.contains("umbrella"))
            }
        }
    }

    @Test("A chain is judged before it is deployed: a missing intermediate, the order, another time, other pins")
    func chain() async throws {
        try await SigningSite.with { site in
            let leaf = try site.leaf("leaf.pem")
            let arguments = ["check", "--host", "www.example.com", "--ca", "root.pem", "--json", "--chain"]
            let good = try await site.run(arguments + ["leaf.pem"])
            #expect(try good.status == 0 && (good.json(CheckLine.self)).remarks == nil, "\(good.errors)")
            try site.write("alone.pem", leaf.pem)
            let missing = try await site.run(arguments + ["alone.pem"])
            #expect(try missing.status == 1 && (missing.json(CheckLine.self)).failure?.code == "unknownIssuer")
            try site.write("order.pem", leaf.pem + site.root.certificate.pem + site.issuing.certificate.pem)
            let order = try await site.run(arguments + ["order.pem"])
            #expect(order.status == 0)
            #expect(try order.json(CheckLine.self).remarks?.first?.contains("did not issue certificate 0") == true)
            let late = try await site.run(arguments + ["leaf.pem", "--at", "2099-01-01"])
            #expect(late.status == 1 && late.output.contains("expired"))
            let pins = ["--list", "pins.json", "--public-key", site.publicKey, "--no-shipped-pins"]
            try site.write(
                "pins.json",
                String(
                    decoding: try PinListDraft([Self.entry("www.example.com", leaf.der)]).signed(by: site.key),
                    as: UTF8.self))
            #expect(try await site.run(arguments + ["leaf.pem"] + pins).status == 0)
            try site.leaf("next.pem")
            let next = try await site.run(arguments + ["next.pem"] + pins)
            #expect(try next.status == 1 && (next.json(CheckLine.self)).published?.isLockedOut == true)
        }
    }

    @Test("Clients that nobody named are unknown, and a version that carries other pins locks its users out")
    func appVersions() async throws {
        try await SigningSite.with { site in
            let (leaf, other) = (try site.leaf("leaf.pem"), try site.leaf("other.pem"))
            for (name, certificate) in [("good.json", leaf), ("bad.json", other)] {
                let host = try PinFile.Host(
                    HostPattern(SigningSite.name), pins: [PinFile.KeyPin(Pin.publicKey(of: certificate.der))])
                try site.write(name, String(decoding: try PinFile(hosts: [host]).json, as: UTF8.self))
            }
            func write(_ name: String, _ certificates: TestCertificate...) throws {
                let entries = try certificates.map { try Self.entry(SigningSite.name, $0.der) }
                try site.write(name, String(decoding: try PinListDraft(entries).signed(by: site.key), as: UTF8.self))
            }
            try write("list.json", leaf)
            try write("old.json", other)
            try site.write("other-root.pem", try TestAuthority.root(name: "Another").certificate.pem)
            try await withLoopbackTLSServer(serving: leaf) { server in
                func check(_ arguments: String..., status: Int32, at line: SourceLocation = #_sourceLocation)
                    async throws -> CheckLine.Published?
                {
                    let run = try await site.run(
                        ["check", SigningSite.name] + arguments + [
                            "--ca", "root.pem", "--connect-to", "127.0.0.1:\(server.port)", "--timeout", "60s",
                            "--json",
                        ])
                    #expect(run.status == status, "\(run.output)\(run.errors)", sourceLocation: line)
                    return try run.json(CheckLine.self).published
                }
                let (pins, key) = ("list.json", site.publicKey)
                let open = try await check("--list", pins, "--public-key", key, status: 3)
                #expect(
                    open?.verdict == "unknown" && open?.text.contains("app versions unknown") == true, "\(open as Any)")
                for known in [["--no-shipped-pins"], ["--shipped", "7.4"], ["--shipped", "7.4=good.json"]] {
                    let run = try await site.run(
                        ["check", SigningSite.name, "--list", pins, "--public-key", key] + known + [
                            "--ca", "root.pem", "--connect-to", "127.0.0.1:\(server.port)", "--timeout", "60s",
                            "--quiet",
                        ])
                    #expect(run.status == 0, "\(known): \(run.output)\(run.errors)")
                }
                let shipped = try await check(
                    "--list", pins, "--public-key", key, "--shipped", "7.4=bad.json", status: 1)
                #expect(shipped?.isLockedOut == true && shipped?.text.contains("bad.json") == true)
                #expect(try await check("--pins", "good.json", "--pins", "bad.json", status: 1)?.isLockedOut == true)
                #expect(try await check("--pins", "good.json", status: 0)?.verdict == "in")

                let day = SystemWallClock().now.addingTimeInterval(-86_400).formatted(.iso8601)
                let replaced = try await check(
                    "--list", pins, "--public-key", key, "--no-shipped-pins", "--replaced", "old.json@\(day)", status: 1
                )
                #expect(replaced?.text.contains("was replaced") == true, "\(replaced as Any)")
                _ = try await check(
                    "--list", pins, "--public-key", key, "--no-shipped-pins", "--replaced", "old.json@\(day)",
                    "--staleness",
                    "1h", status: 0)
                let elsewhere = try await check(
                    "--list", pins, "--public-key", key, "--no-shipped-pins", "--platform", "other=other-root.pem",
                    status: 1)
                #expect(elsewhere?.cause == "certificate", "\(elsewhere as Any)")
            }
        }
    }
}
