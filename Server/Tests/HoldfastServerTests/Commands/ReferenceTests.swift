import Foundation
import Testing

@testable import HoldfastServer
@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerStore

/// docs/reference/server.md. Its marked sections are made here; with `HOLDFAST_WRITE_REFERENCE=1` they are written, not
/// compared.
@Suite("The reference of the server is what the code has", .timeLimit(.minutes(2)))
struct ReferenceTests {
    /// The output of `--experimental-dump-help`.
    private struct Help: Decodable { let command: Verb }

    private struct Verb: Decodable {
        let commandName: String
        let abstract: String?
        let subcommands: [Verb]?
        let arguments: [Argument]?

        /// The commands that do something, with their whole names.
        func leaves(below path: [String] = []) -> [(name: String, verb: Verb)] {
            guard let subcommands, !subcommands.isEmpty else { return [(path.joined(separator: " "), self)] }
            return subcommands.filter { $0.commandName != "help" }
                .flatMap { $0.leaves(below: path + [$0.commandName]) }
        }
    }

    private struct Argument: Decodable {
        struct Name: Decodable {
            let kind: String
            let name: String
        }

        let names: [Name]?
        let valueName: String?
        let abstract: String?
        let isRepeating: Bool

        var name: String { names?.first { $0.kind == "long" }?.name ?? "" }
        var spelling: String { name.isEmpty ? "<\(valueName ?? "")>" : "--\(name)" }
    }

    private static let page = Manual.root.appending(path: "docs/reference/server.md")
    private static var writes: Bool { ProcessInfo.processInfo.environment["HOLDFAST_WRITE_REFERENCE"] == "1" }

    /// Compares a section of the page with its rows, or writes them.
    private func expect(_ section: String, _ made: String) throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let mark = "<!-- made from the code: \(section) -->\n"
        let start = try #require(text.range(of: mark), "\(section)").upperBound
        let end = try #require(text.range(of: "<!-- end -->", range: start..<text.endIndex)).lowerBound
        if Self.writes {
            try Data((text[..<start] + made + text[end...]).utf8).write(to: Self.page)
        } else {
            #expect(
                text[start..<end] == made,
                "docs/reference/server.md has another section \(section); run this with HOLDFAST_WRITE_REFERENCE=1")
        }
    }

    private func table(_ head: [String], _ rows: [[String]]) -> String {
        let lines = [head, head.map { _ in "---" }] + rows
        return lines.map { "| \($0.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ")) |\n" }.joined()
    }

    private func help() async throws -> Verb {
        let (_, output) = try await ServerProgram.run(["--experimental-dump-help"], in: Manual.root)
        return try JSONDecoder().decode(Help.self, from: Data(output.utf8)).command
    }

    private func source(_ path: String) throws -> String {
        try String(contentsOf: Manual.root.appending(path: "Server/Sources/PinPublication/\(path)"), encoding: .utf8)
    }

    /// All sources of the server, one after the other.
    private func sources() throws -> String {
        let folder = Manual.root.appending(path: "Server/Sources")
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
            .sorted().map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }.joined()
    }

    @Test("Commands, settings, notices and metrics of the page are those of the code")
    func reference() async throws {
        let verbs = try await help().leaves()
        try #require(verbs.count > 30)
        try expect("settings", settings(verbs))
        try expect("notices", notices())
        try expect("metrics", metrics())
        try expect("commands", commands(verbs))
    }

    private func commands(_ verbs: [(name: String, verb: Verb)]) -> String {
        verbs.map { name, verb in
            let rows = (verb.arguments ?? []).filter { !["version", "help", "data", "database"].contains($0.name) }
                .map { ["`\($0.spelling)`", $0.abstract ?? ""] }
            return "### `\(name)`\n\(verb.abstract ?? "")\n\n"
                + (rows.isEmpty ? "" : table(["argument", "meaning"], rows) + "\n")
        }.joined()
    }

    private func settings(_ verbs: [(name: String, verb: Verb)]) throws -> String {
        let serve = try #require(verbs.first { $0.name == "serve" }?.verb.arguments)
        let rows = try ServeSettings.Name.allCases.map { setting in
            let name = setting.rawValue
            let argument = try #require(serve.first { $0.name == name || $0.name == "no-\(name)" }, "\(name)")
            let variable = "HOLDFAST_SERVER_" + name.uppercased().replacing("-", with: "_")
            return ["`\(name)`", "`\(variable)`", "`\(argument.spelling)`", argument.abstract ?? ""]
        }
        return table(["setting", "variable", "flag", "meaning"], rows)
    }

    private func notices() throws -> String {
        let (kinds, finder) = (try source("Notices/Notice.swift"), try source("Notices/NoticeFinder.swift"))
        func names(_ list: Substring) -> [String] { list.matches(of: /"(\w+)":/).map { String($0.1) } }
        return table(
            ["kind", "when", "facts"],
            try Notice.Kind.allCases.map { kind in
                let doc = try #require(
                    kinds.matches(of: /((?: +\/\/\/ [^\n]*\n)+) +case (\w+)\n/).first { $0.2 == kind.rawValue }?.1)
                let meaning = doc.split(separator: "\n").map { $0.drop { $0 == " " || $0 == "/" } }
                var facts: [String] = []
                for made in finder.matches(of: /Notice\(\s*\.(\w+), of: server,\s*(facts|\[[^\]]*\])/)
                where made.1 == kind.rawValue {
                    guard made.2 == "facts" else {
                        facts += names(made.2)
                        continue
                    }
                    for list in finder.matches(of: /var facts = (\[[^\]]*\])/) { facts += names(list.1) }
                    facts += finder.matches(of: /facts\["(\w+)"\] =/).map { String($0.1) }
                }
                try #require(!facts.isEmpty, "\(kind)")
                let told = Set(facts).sorted().map { "`\($0)`" }.joined(separator: ", ")
                return ["`\(kind.rawValue)`", meaning.joined(separator: " "), told]
            })
    }

    private func metrics() throws -> String {
        let text = try sources()
        let rows = text.matches(of: /"(holdfast_[a-z_]+)",\s*\.(counter|gauge),\s*"([^"]+)"/)
            .map { ["`\($0.1)`", String($0.2), String($0.3)] }
        let named = text.matches(of: /"(holdfast_[a-z_]+)",\s*\.(?:counter|gauge)/)
        #expect(rows.count == named.count && rows.count > 25, "a metric has no text of one line")
        return table(["metric", "kind", "meaning"], rows.sorted { $0[0] < $1[0] })
    }

    @Test("Each table of the database has its bound in the threat model, which names no other")
    func bounds() async throws {
        try await World.run { world in
            let database = try SQLiteConnection(world.folder.appending(path: "server.db").path, clock: world.clock)
            let tables = Set(try StorageTable.all(of: database).map(\.name))
            try #require(tables.count > 20)
            let page = Manual.root.appending(path: "docs/server/threat-model.md")
            let text = try String(contentsOf: page, encoding: .utf8)
            let start = try #require(text.range(of: "\n| in the database |")).upperBound
            let end = try #require(text.range(of: "\n\n", range: start..<text.endIndex)).lowerBound
            let rows = text[start..<end].split(separator: "\n").compactMap { $0.split(separator: "|").first }
            let named = rows.flatMap { $0.matches(of: /`(\w+)`/).map { String($0.1) } }
            // The engine of PostgreSQL counts its own steps.
            #expect(Set(named) == tables.union(["schema_version"]))
        }
    }

    @Test("A field of JSON that the page names is one that the code has")
    func fields() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let start = try #require(text.range(of: "## JSON\n")).upperBound
        let end = try #require(text.range(of: "## Commands\n")).lowerBound
        let code = try sources()
        let fields = text[start..<end].split(separator: "\n").filter { $0.hasPrefix("| `") }
            .flatMap { $0.matches(of: /`([a-z]\w+)`/).dropFirst() }
        try #require(fields.count > 30)
        for field in fields {
            #expect(code.contains("\"\(field.1)\"") || code.contains("case \(field.1)"), "\(field.1)")
        }
    }
}
