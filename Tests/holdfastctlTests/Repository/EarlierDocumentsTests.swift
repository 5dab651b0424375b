import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

/// The library's guarantees about earlier documents and shipped bundles, once for each verb that has the options.
@Suite("Verbs that judge what clients still hold, and what apps ship", .timeLimit(.minutes(15)))
struct EarlierDocumentsTests {
    private static func place(_ port: Int) -> [String] {
        ["--ca", "root.pem", "--connect-to", "127.0.0.1:\(port)", "--timeout", "60s"]
    }

    @discardableResult
    private static func run(
        _ site: SigningSite, _ arguments: [String], status: Int32, at line: SourceLocation = #_sourceLocation
    ) async throws -> CommandRun {
        let run = try await site.run(arguments)
        #expect(run.status == status, "\(arguments): \(run.output)\(run.errors)", sourceLocation: line)
        return run
    }

    @Test("repository status and renew are not good while clients with the pins from before are refused")
    func repository() async throws {
        try await SigningSite.with { site in
            let (old, new, backup) = (try site.leaf("old.pem"), try site.leaf("new.pem"), try site.leaf("b.pem"))
            try await site.beginPublishedRepository(active: old, backup: backup)
            try site.write("old.bundle.json", site.text("site/public/bundle.json"))
            try await site.preparePins(active: new, backup: backup)
            let publish = ["repository", "publish", "site", "--key", "online.pem"]
            try await Self.run(site, publish + ["--force", "offline", "--force", "dropped"], status: 0)
            let verbs = [["repository", "status", "site"], ["repository", "renew", "site", "--key", "online.pem"]]
            try await withLoopbackTLSServer(serving: new) { server in
                let place = Self.place(server.port) + ["--no-shipped-pins"]
                for verb in verbs {
                    let refused = try await Self.run(site, verb + place, status: 1)
                    #expect(refused.output.hasPrefix("CLIENTS ARE LOCKED OUT: "), "\(refused.output)")
                    #expect(refused.output.contains("the pins of targets 1, replaced"), "\(refused.output)")
                }
                try server.serve(backup)
                for verb in verbs { try await Self.run(site, verb + place, status: 0) }
                try await Self.run(site, verbs[0] + place + ["--watch", "20d"], status: 4)
                // Without its files the folder does not know it, and the operator has to name it.
                try FileManager.default.removeItem(
                    at: site.folder.appending(path: "site/public/metadata/1.targets.json"))
                let open = try await Self.run(site, verbs[0] + place, status: 3)
                #expect(open.output.contains("--replaced"), "\(open.output)")
                let named = ["--replaced", "old.bundle.json@\(Int64(SystemWallClock().now.timeIntervalSince1970))"]
                try await Self.run(site, verbs[0] + place + named, status: 0)
                try server.serve(new)
                try await Self.run(site, verbs[0] + place + named, status: 1)
                try await Self.run(site, verbs[0] + place + ["--replaced", "bank.pins.json@2026-11-20"], status: 2)
            }
        }
    }

    @Test("A bundle that a version ships is judged with the root that it was built with, by every verb")
    func shippedBundle() async throws {
        try await SigningSite.with { site in
            let (leaf, other) = (try site.leaf("leaf.pem"), try site.leaf("other.pem"))
            try await site.beginPublishedRepository(active: leaf, backup: try site.leaf("b.pem"))
            try site.write("app.bundle.json", site.text("site/public/bundle.json"))
            try site.write("app.root.json", site.text("site/public/metadata/1.root.json"))
            let host = try PinFile.Host(
                HostPattern(SigningSite.name),
                pins: [leaf, other].map { try PinFile.KeyPin(Pin.publicKey(of: $0.der)) })
            try site.write("wide.pins.json", String(decoding: try PinFile(hosts: [host]).json, as: UTF8.self))
            let shipped = ["--shipped", "7.4=app.bundle.json"]
            let root = ["--shipped-root", "7.4=app.root.json"]
            let repository = [
                ["repository", "status", "site"], ["repository", "renew", "site", "--key", "online.pem"],
            ]
            // Those that know no root of their own.
            let others = [
                ["check", "--pins", "wide.pins.json"],
                ["gate", SigningSite.name, "--next", "leaf.pem", "--pins", "wide.pins.json", "--first"],
            ]
            let rollover = ["rollover", "--pins", "wide.pins.json", "--first", "--staleness", "1d"]
            try await withLoopbackTLSServer(serving: leaf) { server in
                let place = Self.place(server.port)
                for verb in repository { try await Self.run(site, verb + place + shipped, status: 0) }
                for verb in others + [rollover] {
                    let unsaid = try await Self.run(site, verb + place + shipped, status: 2)
                    #expect(unsaid.errors.contains("--shipped-root 7.4=FILE"), "\(unsaid.errors)")
                }
                for verb in others { try await Self.run(site, verb + place + shipped + root, status: 0) }
                // The bundle ends, and that version gets no other.
                let advice = try await Self.run(site, rollover + place + shipped + root, status: 1)
                #expect(advice.output.contains("lost clients with app.bundle.json in 7.4"), "\(advice.output)")
                #expect(!advice.output.contains("let clients in, now"), "\(advice.output)")
                try await Self.run(site, others[0] + place + root, status: 2)
                try server.serve(other)
                try await Self.run(site, others[0] + place, status: 0)
                for verb in repository + others.prefix(1) + [rollover] {
                    let refused = try await Self.run(site, verb + place + shipped + root, status: 1)
                    #expect((refused.output + refused.errors).contains("app.bundle.json"), "\(refused.output)")
                }
                try await Self.run(
                    site,
                    ["gate", SigningSite.name, "--next", "other.pem", "--pins", "wide.pins.json", "--first"] + place
                        + shipped + root, status: 1)
            }
        }
    }

    @Test("A trust server is not good while clients with the document from before are refused")
    func trustServer() async throws {
        try await TrustServerSite.with { site in
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                try site.write("data/acme.domains", "127.0.0.1:\(server.port)\n")
                #expect(try await site.publish().status == 0)
                try FileManager.default.copyItem(
                    at: site.file("output/acme.json.signed"), to: site.file("old.json.signed"))
                try server.serve(try site.root.leaf(names: [.address([127, 0, 0, 1])]))
                let published = try await site.publish()
                #expect(published.status == 1 && published.output.contains(" published 1 host"), "\(published.errors)")
                #expect(published.errors.contains("an earlier document, which was replaced, are locked out"))
                #expect(try site.mode("data/acme.replaced.json") == 0o600)
                func run(_ more: String..., status code: Int32) async throws -> CommandRun {
                    let run = try await CommandRun.holdfastctl(
                        [
                            "check", "--trust-server", "output/acme.json.signed", "--signer", "output/acme.crt",
                            "--customer", "acme", "--ca", "root.pem", "--timeout", "60s", "--no-shipped-pins",
                        ] + more, in: site.folder)
                    #expect(run.status == code, "\(run.output)\(run.errors)")
                    return run
                }
                _ = try await run(status: 0)
                let second = Int64(SystemWallClock().now.timeIntervalSince1970)
                _ = try await run("--replaced", "old.json.signed@\(second)", status: 1)
                try site.write("data/acme.replaced.json", "{}")
                let damaged = try await site.publish()
                #expect(damaged.errors.contains("nobody knows which"), "\(damaged.errors)")
                try server.serve(site.leaf)
                _ = try await run("--replaced", "old.json.signed@\(second)", status: 0)
            }
        }
    }
}
