import Foundation
import Testing

@testable import HoldfastServer

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

    @Test("What the unit and the image start, serve takes")
    func arguments() async throws {
        let unit = try text("holdfast-server.service")
        let start = try #require(unit.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
        let words = start.split(separator: " ").map(String.init)
        #expect(words.prefix(2) == ["ExecStart=/usr/local/bin/holdfast-server", "serve"])
        let image = try text("Dockerfile")
        let (_, help) = try await ServerProgram.run(["serve", "--help"], in: Self.folder)
        let inImage = image.split(separator: "\n").filter { $0.hasPrefix("#") }.joined(separator: " ")
            .split(separator: " ").map(String.init)
        let serve = try #require(inImage.firstIndex(of: "serve"))
        for option in (words + inImage[serve...]).filter({ $0.hasPrefix("--") }) {
            #expect(help.contains(option), "serve has no \(option)")
        }
    }

    @Test("The unit allows no core dump, which would have private keys")
    func coreDumps() throws {
        let unit = try text("holdfast-server.service")
        #expect(unit.split(separator: "\n").contains("LimitCORE=0"))
    }

    @Test("The image is built apart, runs without privileges and is stopped by SIGTERM")
    func image() throws {
        let lines = try text("Dockerfile").split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
        let stages = lines.filter { $0.hasPrefix("FROM ") }
        #expect(stages.count == 2 && stages[0].hasSuffix(" AS build"), "\(stages)")
        // Each names its image by an argument whose value has a version.
        #expect(stages[0] == "FROM ${SWIFT} AS build" && stages[1] == "FROM ${BASE}", "\(stages)")
        let images = lines.filter { $0.hasPrefix("ARG ") }.map { $0.split(separator: "=").last ?? "" }
        #expect(images.count == 2 && images.allSatisfy { $0.contains(":") && !$0.hasSuffix(":latest") }, "\(images)")
        let end = try #require(lines.lastIndex { $0.hasPrefix("FROM ") })
        let last = lines[end...]
        #expect(last.contains("USER 10001") && last.contains("STOPSIGNAL SIGTERM"))
        #expect(last.contains(#"ENTRYPOINT ["holdfast-server"]"#) && last.contains("VOLUME /srv/pins"))
        #expect(
            last.filter { $0.hasPrefix("COPY ") } == [
                "COPY --from=build /installed/holdfast-server /usr/local/bin/holdfast-server"
            ], "nothing of the source is in it")
        let user = try #require(last.firstIndex(of: "USER 10001"))
        #expect(!last[user...].contains { $0.hasPrefix("RUN ") || $0.hasPrefix("COPY ") })
        #expect(try text("Dockerfile").contains("in the place of both images"))
    }

    /// What the image's packages are for: a library that is compiled against, and the one that a program with it needs.
    private static let libraries: [String: (package: String, library: String)] = [
        "libpq-dev": ("libpq5", "libpq.so.5"), "libsqlite3-dev": ("libsqlite3-0", "libsqlite3.so.0"),
        "zlib1g-dev": ("zlib1g", "libz.so.1"),
    ]
    /// What Swift's own libraries need once they are part of the program, and what webhooks are validated against.
    private static let others: Set<String> = ["ca-certificates", "libcurl4t64", "libxml2"]

    /// The packages that each stage of the Dockerfile installs.
    private func packages() throws -> [Set<String>] {
        let lines = try text("Dockerfile").replacing("\\\n", with: " ").split(separator: "\n")
        return lines.filter { $0.hasPrefix("RUN ") && $0.contains("apt-get install") }.map { line in
            let command = line.components(separatedBy: "apt-get install")[1].components(separatedBy: "&&")[0]
            return Set(command.split(separator: " ").map(String.init).filter { !$0.hasPrefix("-") })
        }
    }

    @Test("The image is built as the README says, by the compiler of CI, and installs what the manifest names")
    func imageAgrees() throws {
        let image = try text("Dockerfile")
        let manifest = try Self.text(of: "Server/Package.swift")
        let named = Set(manifest.matches(of: /\.apt\(\["([a-z0-9-]+)"\]\)/).map { String($0.1) })
        let packages = try packages()
        #expect(named == Set(Self.libraries.keys) && packages.first == named)
        #expect(packages.last == Set(Self.libraries.values.map(\.package)).union(Self.others))
        // CI and whoever installs without an image need the same.
        for text in [try Self.text(of: "scripts/foreign-programs"), try Self.readme] {
            #expect(named.allSatisfy { text.contains($0) })
        }
        let build = try #require(image.firstMatch(of: /RUN (swift build .*?) --static-swift-stdlib/)?.1)
        #expect(try Self.readme.contains("\(build)\n"), "the README builds another way than \(build)")
        let compiler = try #require(image.firstMatch(of: /ARG SWIFT=(swift:[0-9.]+)/)?.1)
        #expect(try Self.text(of: ".github/workflows/linux.yml").contains("container: \(compiler)-"))
        // Nothing that is built is left out of what Docker gets, and nothing that was built here is in it.
        let ignored = try Self.text(of: ".dockerignore").split(separator: "\n")
        #expect(ignored.allSatisfy { $0.hasPrefix(".git") || $0.contains(".build") } && ignored.contains("**/.build"))
        // The file of the secret belongs to the user who runs it.
        #expect(image.contains("--uid 10001 ") && image.contains("in a file of user 10001:"))
        #expect(image.contains("docker build -f Server/Deploy/Dockerfile "))
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

    @Test("Alert rules name only metrics and labels that /metrics has, and each rule is tested")
    func metrics() async throws {
        let rules = try text("alerts.yml")
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
            let text = MetricsText(
                families: counters.families + MetricsText.families(of: world.publisher.live.current)
                    + MetricsText.families(of: world.catalog.ledger, isReady: true, at: world.now)
                    + MetricsText.families(of: world.engine.reserve)
                    + MetricsText.families(of: places) + MetricsText.families(of: notices)
                    + desk.inbox.families
            ).text
            let names = Set(text.matches(of: /(?m)^(holdfast_[a-z_]+)/).map { String($0.1) })
            let wanted = Set(rules.matches(of: /holdfast_[a-z_]+/).map { String($0.0) })
            #expect(wanted.count > 10 && wanted.isSubset(of: names), "\(wanted.subtracting(names))")
            let labels = Set(text.matches(of: /([a-z_]+)="/).map { String($0.1) })
            let used = Set(
                rules.matches(of: /[{,]([a-z_]+)(?:=|!=|=~|!~)"/).map { String($0.1) }
                    + rules.matches(of: /\$labels\.([a-z_]+)/).map { String($0.1) }
                    + rules.matches(of: /by \(([a-z_]+)\)/).map { String($0.1) })
            #expect(used.subtracting(["job"]).isSubset(of: labels), "\(used.subtracting(labels))")
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
