import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastPublishing
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// The library's guarantees about changes and every client, once for each verb that signs or publishes.
@Suite("Verbs that sign or publish judge every client", .timeLimit(.minutes(15)))
struct ChangedPinsTests {
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

    private static func pin(_ certificate: TestCertificate, _ state: PinFile.KeyPin.State = .active) throws
        -> PinFile.KeyPin
    {
        try PinFile.KeyPin(Pin.publicKey(of: certificate.der), state: state)
    }

    private static func write(_ site: SigningSite, _ file: String, _ pins: PinFile.KeyPin...) throws {
        let pins = try PinFile(hosts: [PinFile.Host(HostPattern(SigningSite.name), pins: pins)])
        try site.write(file, String(decoding: pins.json, as: UTF8.self))
    }

    /// A published repository and a signed list, both with a certificate and another one.
    private struct Scene {
        let site: SigningSite
        let leaf: TestCertificate
        let next: TestCertificate

        init(_ site: SigningSite) async throws {
            self.site = site
            (leaf, next) = (try site.leaf("leaf.pem"), try site.leaf("next.pem"))
            try await site.beginPublishedRepository(active: leaf, backup: next)
            try ChangedPinsTests.write(
                site, "bank.pins.json", ChangedPinsTests.pin(leaf), ChangedPinsTests.pin(next, .backup),
                ChangedPinsTests.pin(site.leaf("more.pem"), .backup))
            for certificate in ["leaf.pem", "next.pem"] {
                #expect(try await site.sign([certificate, "--list", "pins.json"]).status == 0)
            }
        }

        var pins: [String] { ["repository", "pins", "site", "bank.pins.json", "--key", "offline.pem"] }
        var sign: [String] { ["repository", "sign", "site", "--key", "offline.pem"] }
        var publish: [String] { ["repository", "publish", "site", "--key", "online.pem"] }
        var remove: [String] {
            let pin = Pin.certificate(next.der).description
            return ["list", "remove", "pins.json", pin, "--public-key", site.publicKey]
        }
        var export: [String] { ["export", "bank.pins.json", "--format", "android"] }

        var folder: TUFRepositoryFolder { TUFRepositoryFolder(site.folder.appending(path: "site")) }
        func isSigned() async throws -> Bool {
            let state = try await folder.state()
            return try !state.hasNoDraft && state.progress().allSatisfy { $0.signed.count >= $0.threshold }
        }
        func targets() async throws -> Int64? { try await folder.state().live?.targets.version }
    }

    @Test("As long as nobody has said which app versions are in the field, nothing is signed or published (3)")
    func unsaid() async throws {
        try await SigningSite.with { site in
            let scene = try await Scene(site)
            try await withLoopbackTLSServer(serving: scene.leaf) { server in
                let place = Self.place(server.port)
                let list = try site.text("pins.json")
                let removed = try await Self.run(site, scene.remove + place, status: 3)
                #expect(removed.errors.contains("app versions unknown") && removed.errors.contains("--no-shipped-pins"))
                #expect(try site.text("pins.json") == list)
                try await Self.run(site, scene.pins + place, status: 3)
                #expect(try await scene.folder.state().hasNoDraft)
                try await site.repository("pins", "site", "bank.pins.json")
                try await Self.run(site, scene.sign + place, status: 3)
                #expect(try await !scene.isSigned())
                try await Self.run(site, scene.sign + place + ["--force", "unreachable"], status: 0)
                #expect(try await scene.isSigned())
                let published = try await Self.run(site, scene.publish + place, status: 3)
                #expect(published.errors.contains("unreachable: app versions unknown"), "\(published.errors)")
                #expect(try await scene.targets() == 1)
                let said = ["--shipped", "7.4"]
                let good = try await Self.run(site, scene.publish + place + said, status: 0)
                #expect(good.output.contains("1 app version: 7.4"), "\(good.output)")
                #expect(try await scene.targets() == 2)
                let changed = try await Self.run(site, scene.remove + place + said, status: 0)
                #expect(changed.output.contains("clients ask at least every 7d"), "\(changed.output)")
                // The pin file that is exported is what a version carries.
                try await Self.run(site, scene.export + place, status: 0)
                try await Self.run(site, scene.export + place + ["--no-shipped-pins"], status: 2)
            }
        }
    }

    @Test("A version that is locked out whatever is published keeps nothing from being done, and is no good news (1)")
    func lockedOutVersion() async throws {
        try await SigningSite.with { site in
            let scene = try await Scene(site)
            try Self.write(site, "bad.json", Self.pin(try site.leaf("other.pem")))
            try await withLoopbackTLSServer(serving: scene.leaf) { server in
                let bad = Self.place(server.port) + ["--shipped", "7.3=bad.json"]
                let prepared = try await Self.run(site, scene.pins + bad, status: 1)
                #expect(prepared.output.hasPrefix("CLIENTS ARE LOCKED OUT: "), "\(prepared.output)")
                #expect(prepared.output.contains("bad.json"))
                #expect(try await scene.isSigned())
                let published = try await Self.run(site, scene.publish + bad, status: 1)
                #expect(published.output.hasPrefix("CLIENTS ARE LOCKED OUT: "), "\(published.output)")
                #expect(published.errors.contains("Published: "))
                #expect(try await scene.targets() == 2)
                let list = try site.text("pins.json")
                let removed = try await Self.run(site, scene.remove + bad, status: 1)
                #expect(removed.errors.contains("refused, as before: ") && removed.errors.contains("bad.json"))
                #expect(try site.text("pins.json") != list)
                let exported = try await Self.run(site, scene.export + bad, status: 1)
                #expect(exported.output.contains("pin-set") && exported.errors.contains("refused, as before: "))
                let forced = ["--force", "refused"]
                try await Self.run(site, scene.export + bad + forced, status: 0)
                try await Self.run(site, scene.pins + bad + forced, status: 0)
                let again = try await Self.run(site, scene.publish + bad + forced, status: 0)
                #expect(again.output.contains("overridden: refused: "), "\(again.output)")
            }
        }
    }

    @Test("Every platform that is named counts, and this machine's anchors do not then")
    func platforms() async throws {
        try await SigningSite.with { site in
            let scene = try await Scene(site)
            let stranger = try TestAuthority.root(name: "Another")
            try site.write("other-root.pem", stranger.certificate.pem)
            try await withLoopbackTLSServer(serving: scene.leaf) { server in
                let place = Self.place(server.port)
                let here = ["--platform", "here=root.pem"]
                let list = try site.text("pins.json")
                for (verb, more) in [
                    (scene.pins, ["--no-shipped-pins"]), (scene.export, []),
                ] {
                    let both = verb + place + more + here + ["--platform", "elsewhere=other-root.pem"]
                    let refused = try await Self.run(site, both, status: 1)
                    #expect(refused.errors.contains("would be locked out"), "\(refused.errors)")
                    let good = try await Self.run(site, verb + place + more + here, status: 0)
                    #expect((good.output + good.errors).contains("here: 1 anchor"), "\(good.output)\(good.errors)")
                }
                let elsewhere = ["--platform", "elsewhere=other-root.pem", "--no-shipped-pins"]
                try await Self.run(site, scene.publish + place + elsewhere, status: 1)
                #expect(try await scene.targets() == 1)
                // There no client gets in with the list either way.
                let removed = try await Self.run(site, scene.remove + place + elsewhere, status: 1)
                #expect(removed.errors.contains("refused, as before: "), "\(removed.errors)")
                #expect(try site.text("pins.json") != list)
            }
        }
    }

    @Test("Clients with earlier pins are judged: what the folder keeps, and what --replaced names")
    func earlier() async throws {
        try await SigningSite.with { site in
            let scene = try await Scene(site)
            let new = try site.leaf("new.pem")
            try site.write("old.json", site.text("pins.json"))
            #expect(try await site.sign(["new.pem", "--list", "pins.json"]).status == 0)
            try Self.write(site, "bank.pins.json", Self.pin(new), Self.pin(scene.next, .backup))
            try await site.repository("pins", "site", "bank.pins.json", "--key", "offline.pem")
            let first = scene.publish + ["--force", "offline", "--force", "dropped"]
            try await Self.run(site, first, status: 0)
            try await withLoopbackTLSServer(serving: new) { server in
                let place = Self.place(server.port) + ["--no-shipped-pins"]
                try Self.write(
                    site, "bank.pins.json", Self.pin(new), Self.pin(scene.next, .backup), Self.pin(scene.leaf, .backup))
                try await Self.run(site, scene.pins + place, status: 1)
                let published = try await Self.run(site, scene.publish + place, status: 1)
                #expect(published.output.contains("the pins of targets 1, which was replaced"), "\(published.output)")
                #expect(try await scene.targets() == 3)
                // The same answer as that of the verb that watches.
                try await Self.run(site, ["repository", "status", "site"] + place, status: 1)
                let named = ["--replaced", "old.json@\(Int64(SystemWallClock().now.timeIntervalSince1970))"]
                let removed = try await Self.run(site, scene.remove + place + named, status: 1)
                #expect(removed.errors.contains("old.json, which was replaced"), "\(removed.errors)")
                #expect(try !site.text("pins.json").contains(SigningSite.fingerprint(scene.next)))
                let printed = ["sign", "new.pem", "--key", "key.pem"] + place + named
                let signed = try await Self.run(site, printed, status: 1)
                #expect(signed.errors.contains("old.json, which was replaced"), "\(signed.errors)")
            }
        }
    }
}
