import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// Every verb, found through the command's own help, so that none is forgotten.
@Suite("Manners that every verb of holdfastctl has", .timeLimit(.minutes(5)))
struct HelpTreeTests {
    struct Tree: Decodable {
        let command: Verb
    }

    struct Verb: Decodable {
        struct Argument: Decodable {
            struct Name: Decodable {
                let kind: String
                let name: String
            }

            let kind: String
            let names: [Name]?
            let valueName: String?
            let abstract: String?

            func isNamed(_ name: String) -> Bool { names?.contains { $0.kind == "long" && $0.name == name } ?? false }
        }

        let commandName: String
        let discussion: String?
        let arguments: [Argument]?
        let subcommands: [Verb]?

        func option(_ name: String) -> Argument? { arguments?.first { $0.isNamed(name) } }

        /// The verbs that do something, with their whole names.
        func leaves(below path: [String] = []) -> [(name: String, verb: Verb)] {
            guard let subcommands, !subcommands.isEmpty else { return [(path.joined(separator: " "), self)] }
            return subcommands.flatMap { $0.leaves(below: path + [$0.commandName]) }
        }
    }

    private static func verbs() async throws -> [(name: String, verb: Verb)] {
        let verbs = try await CommandHelp.json(Tree.self).command.leaves().filter { $0.name != "help" }
        try #require(verbs.count > 25)
        return verbs
    }

    @Test("Every verb has --json and --quiet, says its exit codes, and docs/reference/output.md has its fields")
    func json() async throws {
        let documented = try DocumentedFields().fields
        let verbs = try await Self.verbs()
        for (name, verb) in verbs {
            #expect(verb.option("json") != nil, "\(name)")
            #expect(verb.option("quiet")?.abstract?.hasPrefix("Print failures only") == true, "\(name)")
            #expect(documented[name].map { $0.count > 1 } == true, "\(name) has no table in docs/reference/output.md")
            #expect(verb.discussion?.contains("Exit codes") == true, "\(name) says no exit codes")
        }
        #expect(Set(documented.keys).subtracting(verbs.map(\.name)).isEmpty)
    }

    @Test("A field that docs/reference/output.md names is one that the code has")
    func documentedFields() throws {
        var code = ""
        for folder in ["Sources/holdfastctl", "Sources/HoldfastPublishing"] {
            let files = FileManager.default.enumerator(
                at: DocumentedFields.root.appending(path: folder), includingPropertiesForKeys: nil)
            while let file = files?.nextObject() as? URL {
                if file.pathExtension == "swift" { code += try String(contentsOf: file, encoding: .utf8) }
            }
        }
        let words = Set(code.split { !$0.isLetter && !$0.isNumber })
        for (verb, fields) in try DocumentedFields().fields {
            for name in fields.flatMap({ $0.split(separator: ".") }) where !name.allSatisfy(\.isUppercase) {
                #expect(name == "schema" || words.contains(name), "\(verb): \(name)")
            }
        }
    }

    /// The captures of a regular expression in a file.
    private func found<Output>(_ pattern: Regex<(Substring, Output)>, in path: String) throws -> [Output] {
        try String(contentsOf: DocumentedFields.root.appending(path: path), encoding: .utf8).matches(of: pattern)
            .map { $0.output.1 }
    }

    @Test("The exit codes of docs/formats.md and the metrics of docs/reference/output.md are those of the code")
    func codesAndMetrics() throws {
        let status = "Sources/holdfastctl/CommandLine/CommandFailure.swift"
        let codes = try found(#/case \w+ = ([0-9])\n/#, in: status)
        #expect(codes.count == 5)
        let documented = try found(#/\n\| ([0-9]) \|/#, in: "docs/formats.md")
        #expect(documented == ["0"] + codes)
        let text = "Sources/holdfastctl/CommandLine/PrometheusText.swift"
        let metrics = Set(try found(#/HELP (holdfast_[a-z_]+)/#, in: text))
        #expect(metrics.count > 3)
        let named = Set(try found(#/\n\| `(holdfast_[a-z_]+)/#, in: "docs/reference/output.md"))
        #expect(named == metrics)
    }

    @Test("The pin file that docs/formats.md shows is one, and the page names every code of a refusal")
    func shownPinFile() throws {
        let text = try String(contentsOf: DocumentedFields.root.appending(path: "docs/formats.md"), encoding: .utf8)
        let start = try #require(text.range(of: "```json\n")).upperBound
        let end = try #require(text.range(of: "```", range: start..<text.endIndex)).lowerBound
        let file = try PinFile(json: Data(text[start..<end].utf8))
        #expect(file.hosts.count == 2)
        let source = DocumentedFields.root.appending(path: "Sources/Holdfast/Documents/PinFile/PinFileError.swift")
        let codes = try String(contentsOf: source, encoding: .utf8).matches(of: /static var (\w+): Self/).map { $0.1 }
        try #require(codes.count > 15)
        for code in codes where code != "unreadableFile" { #expect(text.contains("`\(code)`"), "\(code)") }
    }

    @Test("A span has its unit, and what is no span is not called one")
    func spans() async throws {
        var count = 0
        for (name, verb) in try await Self.verbs() {
            for argument in verb.arguments ?? [] {
                let words = (argument.abstract ?? "") + (argument.valueName ?? "")
                #expect(
                    !["seconds", "days", "minutes"].contains(argument.valueName ?? ""),
                    "\(name): \(argument.names?.first?.name ?? words)")
                count += argument.valueName == "span" ? 1 : 0
            }
            for span in ["watch", "timeout", "max-age", "keep", "overlap", "every", "staleness", "lifetime", "valid"] {
                guard let option = verb.option(span) else { continue }
                #expect(option.valueName == "span", "\(name) --\(span)")
            }
        }
        #expect(count > 15)
    }

    @Test(
        "A span of another form is refused, and the error says which form is right",
        arguments: ["21", "21 d", "d", "1w", "-1d", "1.5h", "٣d", "9999999999d", "1D"])
    func otherSpans(text: String) async throws {
        for arguments in [["check", "www.example.com", "--watch=\(text)"], ["show", "a.pem", "--timeout=\(text)"]] {
            let run = try await CommandRun.inProcess(arguments)
            #expect(run.status == 2 && run.errors.contains("21d, 12h, 2m or 10s"), "\(run.errors)")
        }
    }

    @Test("--key is a private key, and a public key has another name")
    func keys() async throws {
        for (name, verb) in try await Self.verbs() {
            if let key = verb.option("key") {
                #expect(key.abstract?.contains("rivate key") == true, "\(name)")
            }
            if let key = verb.option("public-key") {
                #expect(key.abstract?.contains("public key") == true, "\(name)")
            }
        }
    }

    @Test("An option takes the same for every verb that has it")
    func meanings() async throws {
        var seen: [String: (verb: String, takes: String)] = [:]
        for (verb, arguments) in try await Self.verbs().map({ ($0.name, $0.verb.arguments ?? []) }) {
            for argument in arguments where argument.kind != "positional" {
                let takes = argument.kind == "flag" ? "nothing" : argument.valueName ?? ""
                // A file with the backups of a trust server, which has certificates too; otherwise a pin.
                for name in argument.names ?? [] where name.name != "backup" {
                    let key = "\(name.kind) \(name.name)"
                    let first = seen[key] ?? (verb, takes)
                    seen[key] = first
                    #expect(first.takes == takes, "\(verb) and \(first.verb): \(key)")
                }
            }
        }
        #expect(seen.count > 60)
    }

    @Test("A verb that watches ends prints metrics too")
    func metrics() async throws {
        for (name, verb) in try await Self.verbs() where verb.option("watch") != nil || name.hasSuffix("status") {
            #expect(verb.option("format") != nil, "\(name)")
        }
    }

    @Test("-o names a file, for every verb that has it, and every verb that makes a document does")
    func output() async throws {
        for (name, verb) in try await Self.verbs() {
            guard let output = verb.option("output") else { continue }
            #expect(output.valueName == "file", "\(name)")
            #expect(output.names?.contains { $0.kind == "short" && $0.name == "o" } == true, "\(name)")
        }
        for name in [
            "pin", "export", "import", "sign", "export-private", "keygen", "pins add", "pins remove", "pins retire",
            "pins promote", "pins set", "list prune", "list remove", "trust-server show", "repository publish",
            "repository renew",
        ] {
            let verb = try #require(try await Self.verbs().first { $0.name == name }?.verb)
            #expect(verb.option("output") != nil, "\(name)")
        }
    }
}
