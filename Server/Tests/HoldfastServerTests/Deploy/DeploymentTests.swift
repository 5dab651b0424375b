import Foundation
import Testing

@testable import HoldfastServer
@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import PublicAPI
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("What operators install", .timeLimit(.minutes(2)))
struct DeploymentTests {
    private static let folder = root.appending(path: "Server/Deploy")

    private static let root = Vectors.root

    private static var readme: String { get throws { try text(of: "Server/README.md") } }

    private static func text(of path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
    }

    @Test(
        "systemd accepts the unit, and finds it exposed by at most 1.1 of 10",
        .needs(.program("systemd-analyze")))
    func unit() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "holdfast-server.service")
            let unit = try text("holdfast-server.service").replacing(
                "/usr/local/bin/holdfast-server", with: "/bin/true")
            try Data(unit.utf8).write(to: file)
            let analyze = try ForeignProgram.required("systemd-analyze")
            func run(_ arguments: [String]) async throws -> (status: Int32, output: String) {
                let answer = try await ForeignProgram.run(
                    analyze, arguments + [file.path], in: folder, withErrors: true)
                return (answer.status, String(decoding: answer.output, as: UTF8.self))
            }
            let verified = try await run(["verify"])
            #expect(verified.status == 0 && !verified.output.contains("holdfast"), "\(verified.output)")
            // Tenths; with a threshold that the unit does not meet the exit code is another.
            let security = try await run(["security", "--offline=true", "--no-pager", "--threshold=11"])
            #expect(security.status == 0, "\(security.output)")
            let level = try #require(security.output.firstMatch(of: /exposure level[^:]*: ([0-9.]+)/)?.1)
            #expect(try Self.readme.contains("exposed by \(level) of 10"), "Server/README.md has another than \(level)")
            #expect(try await run(["security", "--offline=true", "--no-pager", "--threshold=5"]).status != 0)
        }
    }

    @Test("What the unit, the image, the composition and the manifests start, the program takes")
    func arguments() async throws {
        let unit = try text("holdfast-server.service")
        let start = try #require(unit.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
        let words = start.split(separator: " ").map(String.init)
        #expect(words.prefix(2) == ["ExecStart=/usr/local/bin/holdfast-server", "serve"])
        let image = try Self.text(of: "scripts/lib/image")
        let command = image.matches(of: /--config\.cmd (\S+)/).map { String($0.1) }
        #expect(command == ["serve", "--data", "\"$data\""] && image.contains("\ndata=/var/lib/holdfast\n"))
        var (commands, names) = ([words], Set<String>())
        for name in ["compose.yaml", "kubernetes/sqlite.yaml", "kubernetes/postgresql.yaml"] {
            let lines = try text(name)
            commands += lines.matches(of: /(?:command|args|test): \[((?:"?CMD"?, )?[^\]]*)\]/).map { found in
                found.1.split(separator: ",").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " \"")) }
            }
            names.formUnion(lines.matches(of: /HOLDFAST_SERVER_([A-Z_]+)/).map { String($0.1) })
            #expect(!lines.contains(":latest") && lines.contains("/var/lib/holdfast"), "\(name)")
        }
        let (_, serve) = try await ServerProgram.run(["serve", "--help"], in: Self.folder)
        let (_, making) = try await ServerProgram.run(["init", "--help"], in: Self.folder)
        #expect(commands.count > 8, "\(commands)")
        for words in commands {
            let help = words.contains("init") ? making : serve
            for option in words
            where option.hasPrefix("--") && words.contains(where: { ["serve", "init"].contains($0) }) {
                #expect(help.contains(option), "\(words) has no \(option)")
            }
            if let health = words.firstIndex(of: "health") {
                let question = try #require(words[(health + 1)...].first)
                #expect(HealthCheck.Question(rawValue: question) != nil, "\(words)")
            }
        }
        let settings = Set(
            ServeSettings.Name.allCases.map { $0.rawValue.uppercased().replacing("-", with: "_") })
        #expect(names.count > 2 && names.isSubset(of: settings), "\(names.subtracting(settings))")
    }

    @Test("The unit allows no core dump, which would have private keys")
    func coreDumps() throws {
        let unit = try text("holdfast-server.service")
        #expect(unit.split(separator: "\n").contains("LimitCORE=0"))
    }

    /// The image's packages: a library to compile against, and the one that a program with it needs.
    private static let libraries: [String: (package: String, library: String)] = [
        "libsqlite3-dev": ("libsqlite3-0", "libsqlite3.so.0"), "zlib1g-dev": ("zlib1g", "libz.so.1"),
    ]
    /// The library that the program loads when a database is named.
    private static let loaded = "libpq5"

    @Test("The image has a library for each that the manifest names, and builders are told the same")
    func imageAgrees() throws {
        let image = try Self.text(of: "scripts/lib/image")
        let manifest = try Self.text(of: "Server/Package.swift")
        let named = Set(manifest.matches(of: /\.apt\(\["([a-z0-9-]+)"\]\)/).map { String($0.1) })
        #expect(named == Set(Self.libraries.keys))
        let packages = image.matches(of: /(?m)^(?:packages|postgresql)=\(([^)]+)\)/).flatMap {
            $0.1.split(separator: " ").map(String.init)
        }
        #expect(Set(Self.libraries.values.map(\.package) + [Self.loaded]).isSubset(of: packages), "\(packages)")
        // CI and people who install without an image need the same.
        for text in [try Self.text(of: "scripts/foreign-programs"), try Self.readme] {
            #expect((named + [Self.loaded]).allSatisfy { text.contains($0) })
        }
    }

    @Test(
        "The program needs no library beside Swift's and the system's but those that the image installs",
        .needs(.program("readelf")))
    func needed() async throws {
        let (status, output) = try await ForeignProgram.run(
            "readelf", ["--dynamic", ServerProgram.url.path], in: Self.folder)
        #expect(status == 0)
        let needed = String(decoding: output, as: UTF8.self).matches(of: /\(NEEDED\).*\[(.+?)\]/).map { String($0.1) }
        // Those of the compiler are part of the program in the image, and those of the C library in every image.
        let own = ["libswift", "lib_", "libFoundation", "libdispatch", "libBlocksRuntime"]
        let system = ["libc.so", "libm.so", "libstdc++.so", "libgcc_s.so", "ld-linux", "libpthread.so", "libdl.so"]
        let rest = needed.filter { name in !(own + system).contains { name.hasPrefix($0) } }
        #expect(Set(rest) == Set(Self.libraries.values.map(\.library)), "\(needed)")
    }

    @Test(
        "promtool accepts the alert rules, and each fires when it should and not before",
        .needs(.program("promtool")))
    func alerts() async throws {
        let promtool = try ForeignProgram.required("promtool")
        for arguments in [["check", "rules", "alerts.yml"], ["test", "rules", "alerts-test.yml"]] {
            let (status, output) = try await ForeignProgram.run(promtool, arguments, in: Self.folder, withErrors: true)
            #expect(status == 0, "\(String(decoding: output, as: UTF8.self))")
        }
    }

    /// The expressions of the dashboard, with the variable for apps replaced.
    private func dashboardExpressions() throws -> [String] {
        struct Dashboard: Decodable {
            struct Panel: Decodable {
                struct Target: Decodable { let expr: String }
                let title: String
                let targets: [Target]?
            }
            let panels: [Panel]
        }
        let dashboard = try JSONDecoder().decode(Dashboard.self, from: Data(try text("dashboard.json").utf8))
        #expect(Set(dashboard.panels.map(\.title)).count == dashboard.panels.count)
        return dashboard.panels.flatMap { $0.targets ?? [] }.map { $0.expr.replacing("$app", with: ".*") }
    }

    @Test("promtool accepts every expression of the dashboard", .needs(.program("promtool")))
    func dashboard() async throws {
        let expressions = try dashboardExpressions()
        #expect(expressions.count > 20)
        let rules = expressions.enumerated().map {
            ["record": "panel:\($0.offset)", "expr": $0.element]
        }
        try await withFolder { folder in
            let promtool = try ForeignProgram.required("promtool")
            let file = folder.appending(path: "rules.json")
            let encoder = JSONEncoder()
            // promtool reads YAML, in which a slash is not escaped.
            encoder.outputFormatting = .withoutEscapingSlashes
            try encoder.encode(["groups": [Group(name: "dashboard", rules: rules)]]).write(to: file)
            let (status, output) = try await ForeignProgram.run(
                promtool, ["check", "rules", file.path], in: folder, withErrors: true)
            #expect(status == 0, "\(String(decoding: output, as: UTF8.self))")
        }
    }

    private struct Group: Encodable {
        let name: String
        let rules: [[String: String]]
    }

    @Test("A running server has the metrics of alerts and dashboard, but for what nobody set up")
    func running() async throws {
        let expressions = try [text("alerts.yml")] + dashboardExpressions()
        let wanted = Set(
            expressions.joined(separator: "\n").matches(of: /holdfast_[a-z_]+/).map { String($0.0) })
        try await ServeSite.run { site in
            try await site.publish()
            let server = try await ServingProcess.start(site)
            // Answers are counted once there are some.
            _ = try await RawClient(port: server.port).get("/health/live")
            let text = try await RawClient(port: server.administration).get("/metrics").text
            let names = Set(text.matches(of: /(?m)^(holdfast_[a-z_]+)/).map { String($0.1) })
            // A publication has no deadline while nothing ends that clients depend on.
            let setUp = [
                "holdfast_place_", "holdfast_report", "holdfast_notices_", "holdfast_open_change_",
                "holdfast_publish_until_",
            ]
            let missing = wanted.subtracting(names).filter { name in
                !setUp.contains { name.hasPrefix($0) } && name != "holdfast_canary_held_by_reports"
            }
            #expect(missing.isEmpty, "\(missing)")
            #expect(await server.stop() == 0)
        }
    }

    @Test("Alerts and dashboard name only metrics and labels that /metrics has, and each rule is tested")
    func metrics() async throws {
        let texts = try [text("alerts.yml"), text("dashboard.json").replacing("{{", with: "$labels.")]
        let rules = try (texts + dashboardExpressions()).joined(separator: "\n")
        let counters = ListenerCounters()
        counters.count(.challenge, status: 200)
        let notices = NoticeCounters()
        notices.change("webhook") { $0.waiting = 1 }
        try await World.run { world in
            try await world.publish()
            _ = try await world.propose()
            try await world.publisher.refresh()
            try await world.catalog.set(
                Place(
                    name: "bucket", url: "https://pins.example.com", program: ProgramCommand(["/bin/false"], limit: 9)),
                of: world.app, by: "operator")
            let desk = try await ReportDesk(world)
            try desk.count([ReportDesk.networkError()])
            desk.inbox.counters.set([world.app: try await desk.standing()])
            let places = try await world.publisher.placeStandings(of: world.app)
            let standing = try await world.publisher.standing(of: world.app)
            let text = MetricsText(
                families: counters.families + MetricsText.families(of: world.publisher.live.current)
                    + MetricsText.families(of: world.catalog.ledger, isReady: true, at: world.now)
                    + MetricsText.families(of: world.engine.reserve)
                    + MetricsText.families(of: [standing], at: world.now)
                    + MetricsText.families(of: places) + MetricsText.families(of: notices)
                    + desk.inbox.families
            ).text
            let names = Set(text.matches(of: /(?m)^(holdfast_[a-z_]+)/).map { String($0.1) })
            let wanted = Set(rules.matches(of: /holdfast_[a-z_]+/).map { String($0.0) })
            // SurfaceTests has an app with a deadline; nothing that clients depend on ends here.
            let missing = wanted.subtracting(names).subtracting(["holdfast_publish_until_seconds"])
            #expect(wanted.count > 10 && missing.isEmpty, "\(missing)")
            let labels = Set(text.matches(of: /([a-z_]+)="/).map { String($0.1) })
            let used = Set(
                rules.matches(of: /[{,]([a-z_]+)(?:=|!=|=~|!~)"/).map { String($0.1) }
                    + rules.matches(of: /\$labels\.([a-z_]+)/).map { String($0.1) }
                    + rules.matches(of: /by \(([a-z_, ]+)\)/).flatMap {
                        $0.1.split(separator: ", ").map(String.init)
                    })
            #expect(used.subtracting(["job", "instance"]).isSubset(of: labels), "\(used.subtracting(labels))")
        }
        let tests = try text("alerts-test.yml")
        for rule in rules.matches(of: /alert: ([A-Za-z]+)/).map({ String($0.1) }) {
            #expect(tests.contains("alertname: \(rule)\n        exp_alerts"), "nothing shows that \(rule) fires")
        }
    }

    @Test("Every app has a line for alarms before its first, since a rate needs a beginning")
    func alarms() async throws {
        try await World.run { world in
            func line() -> String? {
                MetricsText(families: MetricsText.families(of: world.catalog.ledger, isReady: true, at: world.now)).text
                    .split(separator: "\n").map(String.init).first { $0.hasPrefix("holdfast_alarms_total{") }
            }
            #expect(line() == #"holdfast_alarms_total{app="bank"} 0"#)
            try await world.catalog.alarm(about: Digest(of: [1]), on: world.catalogHost, of: world.app, words: "seen")
            #expect(line() == #"holdfast_alarms_total{app="bank"} 1"#)
        }
    }
}
