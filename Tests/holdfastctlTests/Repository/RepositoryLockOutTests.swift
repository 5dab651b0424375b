import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastPublishing
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// Changes that would lock clients out, and the nearest changes that lock out none.
@Suite("holdfastctl repository publish, what would lock clients out", .timeLimit(.minutes(15)))
struct RepositoryLockOutTests {
    private static let day: TimeInterval = 86_400
    private let now = SystemWallClock().now

    /// Plans a publication of pins, which writes nothing.
    private func plan(
        _ site: SigningSite, _ file: PinFile, _ more: String..., status: Int32 = 0,
        at line: SourceLocation = #_sourceLocation
    ) async throws -> String {
        try await site.preparePins(file)
        let run = try await site.run(["repository", "publish", "site", "--key", "online.pem", "--plan"] + more)
        #expect(run.status == status, "\(run.output)\(run.errors)", sourceLocation: line)
        return run.errors
    }

    private static func pin(
        _ certificate: TestCertificate, _ state: PinFile.KeyPin.State = .active, role: PinFile.KeyPin.Role = .leaf,
        until end: Date? = nil
    ) throws -> PinFile.KeyPin {
        try PinFile.KeyPin(Pin.publicKey(of: certificate.der), role: role, state: state, notAfter: end)
    }

    @Test("On day 106, when pins of 90 days and their grace are over, neither renew nor status says that all is well")
    func pinsRanOut() async throws {
        try await SigningSite.with { site in
            let (leaf, backup) = (try site.leaf("leaf.pem"), try site.leaf("b.pem"))
            let start = now.addingTimeInterval(-106 * Self.day)
            let (offline, online) = (TUFSigningKey(), TUFSigningKey())
            try site.write("online.pem", try #require(online.pem), mode: 0o600)
            let (rare, daily) = (TUFRoleKeys([offline.publicKey]), TUFRoleKeys([online.publicKey]))
            var state = try TUFRepositoryState(
                roles: [.root: rare, .targets: rare, .snapshot: daily, .timestamp: daily], at: start)
            let file = try PinFile(
                issuedAt: start, notAfter: start.addingTimeInterval(90 * Self.day),
                refresh: PinFile.Refresh(after: 21_600, grace: 14 * 86_400),
                hosts: [
                    PinFile.Host(HostPattern(SigningSite.name), pins: [Self.pin(leaf), Self.pin(backup, .backup)])
                ])
            _ = try state.prepare(pins: file.json, at: start)
            _ = try state.sign(by: offline)
            let folder = TUFRepositoryFolder(site.folder.appending(path: "site"))
            try await folder.write(
                try await TUFPublication.make(of: state, in: folder, onlineKeys: [online], at: start))
            let renewed = try await site.run(["repository", "renew", "site", "--key", "online.pem"])
            let status = try await site.run(["repository", "status", "site"])
            for run in [renewed, status] {
                #expect(run.status == 1, "\(run.output)\(run.errors)")
                #expect(run.output.hasPrefix("CLIENTS ARE LOCKED OUT of \(SigningSite.name): "), "\(run.output)")
                #expect(run.output.contains("only the offline key"))
            }
            #expect(try await folder.state().live?.timestamp.version == 2)
        }
    }

    @Test(
        "Pins last for 120 days if nothing else is said; renew and status warn from 45 days before their end"
    )
    func warnings() async throws {
        try await SigningSite.with { site in
            try await site.beginPublishedRepository(active: site.leaf("leaf.pem"), backup: site.leaf("b.pem"))
            let folder = TUFRepositoryFolder(site.folder.appending(path: "site"))
            let file = try PinFile(json: try #require(try await folder.state().live).pins)
            let (issued, end) = (try #require(file.issuedAt), try #require(file.notAfter))
            #expect(end.timeIntervalSince(issued) == 120 * Self.day)
            for (days, isWarned) in [(46, false), (44, true)] {
                try await site.repository(
                    "pins", "site", "bank.pins.json", "--key", "offline.pem", "--valid", "\(days)d")
                try await site.publishRepository(by: "online.pem")
                let renewed = try await site.repository("renew", "site", "--key", "online.pem")
                let status = try await site.run(["repository", "status", "site", "--offline"])
                let watched = try await site.run(["repository", "status", "site", "--offline", "--watch", "20d"])
                for run in [renewed, status, watched] {
                    #expect(run.errors.contains("warning: the pin file: ") == isWarned, "\(run.errors)")
                }
                let next = try PinFile(json: try #require(try await folder.state().live).pins)
                let last = try #require(next.notAfter)
                #expect(status.output.contains(", then by grace until "), "\(status.output)")
                let json = try await site.run(["repository", "status", "site", "--offline", "--json"])
                #expect(json.output.contains("\"pinsNotAfter\":\"\(last.formatted(.iso8601))\""), "\(json.output)")
                let metrics = try await site.run(
                    ["repository", "status", "site", "--offline", "--format", "prometheus"])
                for (what, end) in [("pins", last), ("grace", try #require(next.end))] {
                    #expect(metrics.output.contains("what=\"\(what)\"} \(Int64(end.timeIntervalSince1970))\n"))
                }
            }
        }
    }

    @Test("A pin that lets clients in lasts as long as the timestamp, unless another one does or --force says expiry")
    func expiringPins() async throws {
        try await SigningSite.with { site in
            // It will be renewed, so its own end locks no client out.
            let leaf = try site.leaf("leaf.pem") { $0.notAfter = .days(3) }
            let (backup, issuer) = (try site.leaf("b.pem"), site.issuing.certificate)
            let soon = now.addingTimeInterval(5.5 * 3_600)
            try await site.beginRepository(active: leaf, backup: backup)
            try await withLoopbackTLSServer(serving: leaf) { server in
                func plan(
                    _ pins: PinFile.KeyPin..., force: String..., status: Int32 = 0,
                    at line: SourceLocation = #_sourceLocation
                ) async throws -> String {
                    try await site.preparePins(
                        PinFile(hosts: [PinFile.Host(HostPattern(SigningSite.name), pins: pins)]))
                    let run = try await site.run(
                        [
                            "repository", "publish", "site", "--key", "online.pem", "--plan", "--ca", "root.pem",
                            "--connect-to", "127.0.0.1:\(server.port)", "--timeout", "60s", "--no-shipped-pins",
                        ] + force.flatMap { ["--force", $0] })
                    #expect(run.status == status, "\(run.output)\(run.errors)", sourceLocation: line)
                    return run.errors
                }
                let ending = try Self.pin(leaf, until: soon)
                let standby = try Self.pin(backup, .backup)
                let refused = try await plan(ending, standby, status: 1)
                #expect(
                    refused.contains("expiry: www.example.com")
                        && refused.contains("all pins that match what it serves expire")
                        && refused.contains("\(ending.pin) expires at "), "\(refused)")
                #expect(!refused.contains("backup: "))
                let forced = try await plan(ending, standby, force: "expiry")
                #expect(forced.contains("overridden: expiry: www.example.com"), "\(forced)")
                #expect(forced.contains("warning: ") == false, "\(forced)")
                // The issuer's key goes on to let clients in.
                let quiet = try await plan(ending, standby, Self.pin(issuer, role: .issuer))
                #expect(quiet.isEmpty, "\(quiet)")
                #expect(try await plan(Self.pin(leaf, until: now.addingTimeInterval(15 * Self.day)), standby).isEmpty)
                // Backups that do not last are no backups.
                for end in [soon, now.addingTimeInterval(-Self.day)] {
                    let lost = try await plan(Self.pin(leaf), Self.pin(backup, .backup, until: end), status: 1)
                    #expect(
                        lost.contains("backup: www.example.com: no backup pin counts") && !lost.contains("expiry"),
                        "\(lost)")
                }
                // All end: that needs no connection.
                let all = try await plan(
                    ending, Self.pin(backup, .backup, until: soon), force: "backup", status: 1)
                #expect(all.contains("tooShort of pins") && all.contains("all its pins expire"), "\(all)")
                let meant = try await plan(
                    ending, Self.pin(backup, .backup, until: soon), force: "backup", "expiry")
                #expect(
                    meant.contains("overridden: expiry: the pins of www.example.com run out")
                        && meant.contains("warning: the pins of www.example.com: ends today"), "\(meant)")
            }
        }
    }

    @Test("A pin that is served does not move to a role in which it is not served")
    func movedRole() async throws {
        try await SigningSite.with { site in
            let (leaf, backup) = (try site.leaf("leaf.pem"), try site.leaf("b.pem"))
            try await site.beginPublishedRepository(active: leaf, backup: backup)
            let (issuer, standby) = (
                try Self.pin(site.issuing.certificate, role: .issuer), try Self.pin(backup, .backup)
            )
            try await withLoopbackTLSServer(serving: leaf) { server in
                let place = [
                    "--ca", "root.pem", "--connect-to", "127.0.0.1:\(server.port)", "--timeout", "60s",
                    "--no-shipped-pins",
                ]
                for (pins, isDropped) in [
                    ([try Self.pin(leaf, role: .issuer), issuer, standby], true),
                    ([try Self.pin(leaf, until: now.addingTimeInterval(-60)), issuer, standby], true),
                    ([try Self.pin(leaf, .retiring), issuer, standby], false),
                ] {
                    try await site.preparePins(
                        PinFile(hosts: [PinFile.Host(HostPattern(SigningSite.name), pins: pins)]))
                    let run = try await site.run(
                        ["repository", "publish", "site", "--key", "online.pem", "--plan"] + place)
                    #expect(run.status == (isDropped ? 1 : 0), "\(run.errors)")
                    #expect(run.errors.contains("dropped: ") == isDropped, "\(run.errors)")
                    #expect(run.errors.contains("(leaf) is in a chain that it serves") == isDropped)
                }
            }
        }
    }

    @Test("A file that apps refuse as a whole, for its mode, onExpiry or app, is published only with --force floor")
    func floors() async throws {
        try await SigningSite.with { site in
            let (leaf, backup) = (try site.leaf("leaf.pem"), try site.leaf("b.pem"))
            let pins = [try Self.pin(leaf), try Self.pin(backup, .backup)]
            func host(
                _ pattern: String, _ enforcement: PinSet.Enforcement = .enforce,
                _ afterExpiry: PinSet.ExpiryAction = .reject
            ) throws -> PinFile.Host {
                try PinFile.Host(HostPattern(pattern), enforcement: enforcement, afterExpiry: afterExpiry, pins: pins)
            }
            let (www, shops, app) = (try host("www.example.com"), try host("**.shop.example.com"), "com.example.bank")
            try await site.beginRepository(active: leaf, backup: backup)
            try await site.preparePins(PinFile(app: app, hosts: [www, shops]))
            try await site.publishRepository(by: "online.pem")
            let mistakes: [(app: String?, hosts: [PinFile.Host], found: String)] = [
                (app, [try host("www.example.com", .reportOnly), shops], "www.example.com has mode report: "),
                (
                    app, [try host("www.example.com", .enforce, .standardValidation), shops],
                    "www.example.com has onExpiry systemTrust: apps whose floor covers www.example.com refuse"
                ),
                (
                    app, [www, shops, try host("de.shop.example.com", .reportOnly, .standardValidation)],
                    "de.shop.example.com has mode report and onExpiry systemTrust: "
                ),
                (
                    app, [www, shops, try host("*.example.com", .reportOnly)],
                    "*.example.com has mode report: apps whose floor covers www.example.com refuse"
                ),
                ("com.example.other", [www, shops], "app is \"com.example.other\" instead of \"com.example.bank\": "),
                (nil, [www, shops], "app is no longer \"com.example.bank\": "),
            ]
            for (app, hosts, found) in mistakes {
                let refused = try await plan(
                    site, PinFile(app: app, hosts: hosts), "--force", "offline", status: 1)
                #expect(refused.contains("floor: \(found)"), "\(refused)")
                #expect(refused.split(separator: "\n").count { $0.contains("floor: ") } == 1, "\(refused)")
            }
            // A host that no app knows.
            let other = try host("www.example.org", .reportOnly)
            let fine = try await plan(site, PinFile(app: app, hosts: [www, shops, other]), "--force", "offline")
            #expect(!fine.contains("floor"), "\(fine)")
            // On purpose, and from then on.
            let weak = try PinFile(hosts: [host("www.example.com", .reportOnly), shops])
            try await site.preparePins(weak)
            let forced = try await site.repository(
                "publish", "site", "--key", "online.pem", "--force", "offline", "--force", "floor")
            #expect(forced.output.contains("overridden: floor: "), "\(forced.output)")
            let again = try await plan(site, PinFile(app: app, hosts: weak.hosts), "--force", "offline")
            #expect(!again.contains("floor"), "\(again)")
        }
    }

    @Test("A pin that becomes active was published for a week, whatever the file says of its own age, or is warned of")
    func youngPins() async throws {
        try await SigningSite.with { site in
            let leaves = try ["a", "b", "c", "d", "e", "f"].map { try site.leaf("\($0).pem") }
            let (active, backup, candidate) = (leaves[0], leaves[1], leaves[2])
            let usual = try PinFile.Refresh(after: 21_600, grace: 14 * 86_400)
            func file(issued days: Double, _ pins: PinFile.KeyPin...) throws -> PinFile {
                try PinFile(
                    issuedAt: now.addingTimeInterval(-days * Self.day), notAfter: now.addingTimeInterval(80 * Self.day),
                    refresh: usual, hosts: [PinFile.Host(HostPattern(SigningSite.name), pins: pins)])
            }
            try await site.beginRepository(active: active, backup: backup)
            try await site.preparePins(
                file(issued: 8, Self.pin(active), Self.pin(backup, .backup), Self.pin(candidate, .candidate)))
            // Eight days ago.
            let folder = TUFRepositoryFolder(site.folder.appending(path: "site"))
            try await folder.write(
                try await TUFPublication.make(
                    of: folder.state(), in: folder, onlineKeys: [TUFSigningKey(pem: site.text("online.pem"))],
                    at: now.addingTimeInterval(-8 * Self.day)))
            func warns(
                _ active: PinFile.KeyPin, _ backup: TestCertificate, at line: SourceLocation = #_sourceLocation
            ) async throws -> String? {
                let errors = try await plan(
                    site, file(issued: 0, active, Self.pin(backup, .backup)), "--force", "offline", at: line)
                return errors.split(separator: "\n").first { $0.contains("becomes active") }.map(String.init)
            }
            #expect(try await warns(Self.pin(active), backup) == nil)
            #expect(try await warns(Self.pin(backup), active) == nil)
            #expect(try await warns(Self.pin(candidate), active) == nil)
            for unknown in [try Self.pin(leaves[3]), try Self.pin(backup, role: .issuer)] {
                #expect(try await warns(unknown, active)?.contains("(not in the published pins)") == true)
            }
            // No client connects to a new host yet.
            let new = try PinFile.Host(
                HostPattern("new.example.com"), pins: [Self.pin(leaves[3]), Self.pin(backup, .backup)])
            let old = try file(issued: 0, Self.pin(active), Self.pin(backup, .backup)).hosts
            let both = try await plan(site, PinFile(hosts: old + [new]), "--force", "offline")
            #expect(!both.contains("becomes active"), "\(both)")
            // Just now, by a file that claims to be three weeks old.
            try await site.preparePins(
                file(
                    issued: 21, Self.pin(active), Self.pin(backup, .backup), Self.pin(leaves[4], .candidate),
                    Self.pin(leaves[5], .backup)))
            try await site.publishRepository(by: "online.pem")
            for young in [leaves[4], leaves[5]] {
                #expect(try await warns(Self.pin(young), active)?.contains("(published only since ") == true)
            }
            #expect(try await warns(Self.pin(backup), active) == nil)
            // It was withdrawn meanwhile.
            #expect(try await warns(Self.pin(candidate), active) != nil)
        }
    }

    @Test("Pins that apps refuse for their length, or that are from the future, are not even prepared")
    func times() async throws {
        try await SigningSite.with { site in
            let (leaf, backup) = (try site.leaf("leaf.pem"), try site.leaf("b.pem"))
            try await site.beginRepository(active: leaf, backup: backup)
            let prepare = [
                "repository", "pins", "site", "bank.pins.json", "--key", "offline.pem", "--force", "offline",
            ]
            let long = try await site.run(prepare + ["--valid", "500d"])
            #expect(
                long.status == 1 && long.errors.contains("within 400 days of issuedAt")
                    && long.errors.contains("found 514 days, until "), "\(long.errors)")
            try await site.repository("pins", "site", "bank.pins.json", "--valid", "386d")
            let pins = try PinFile(json: Data(try site.text("bank.pins.json").utf8)).hosts
            for (days, status) in [(3.0, 1), (0.5, 0)] as [(Double, Int32)] {
                let file = try PinFile(issuedAt: now.addingTimeInterval(days * Self.day), hosts: pins)
                try site.write("bank.pins.json", String(decoding: file.json, as: UTF8.self))
                let run = try await site.run(prepare)
                #expect(run.status == status && run.errors.contains("a day ahead") == (status == 1), "\(run.errors)")
            }
        }
    }
}
