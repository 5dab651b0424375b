import Foundation
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("Tables of the documents that repeat what code says", .timeLimit(.minutes(5)))
struct DocumentTableTests {
    /// The first cells of the table below this head, without the marks of code.
    private static func firstCells(of page: String, under head: String) throws -> [String] {
        let text = try String(contentsOf: DocumentedFields.root.appending(path: page), encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex { $0.hasPrefix("| \(head) |") }, "\(page) has no table \(head)")
        return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map {
            $0.split(separator: "|", omittingEmptySubsequences: false)[1].trimmingCharacters(in: .whitespaces)
                .replacing("`", with: "")
        }
    }

    @Test(
        "An operator finds every exit code of check and of gate, and no other",
        arguments: [
            ("check", "docs/monitoring.md", "Exit code"), ("gate", "docs/renewals.md", "Exit code of `gate`"),
        ])
    func exitCodes(_ verb: String, page: String, head: String) async throws {
        let command = try await CommandHelp.json(HelpTreeTests.Tree.self).command
        let help = try #require(command.leaves().first { $0.name == verb }?.verb.discussion)
        let sentence = try #require(help.split(separator: "Exit codes: ").last?.prefix { $0 != "." })
        let codes = sentence.matches(of: #/(?:^|, )([0-9]) /#).map { String($0.1) }
        #expect(codes.count > 4)
        #expect(try Self.firstCells(of: page, under: head) == codes)
    }

    @Test("An operator finds every name that --force of repository publish takes")
    func refusals() throws {
        let documented = try Self.firstCells(of: "docs/operating.md", under: "Name")
        #expect(Set(documented) == Set(RepositoryOverride.allCases.map(\.rawValue)))
    }

    @Test("Every option that a page gives to a verb is one of the verb's options")
    func options() async throws {
        let verbs = try await CommandHelp.json(HelpTreeTests.Tree.self).command.leaves()
        var count = 0
        for page in OperatingManual.pages {
            let text = try String(contentsOf: DocumentedFields.root.appending(path: page), encoding: .utf8)
                .replacing("\\\n", with: " ")
            for match in text.matches(of: /holdfastctl ([^\n`|;&]+)/) {
                let words = match.1.split(separator: " ")
                let found = verbs.first { words.starts(with: $0.name.split(separator: " ")) }
                guard let (name, verb) = found else { continue }
                for word in words where word.hasPrefix("--") {
                    count += 1
                    #expect(verb.option(String(word.dropFirst(2))) != nil, "\(page): \(name) has no \(word)")
                }
            }
        }
        #expect(count > 100)
    }

    @Test("A developer finds every product of the package, and no other")
    func products() throws {
        let manifest = try String(contentsOf: DocumentedFields.root.appending(path: "Package.swift"), encoding: .utf8)
        let products = manifest.matches(of: /\.library\(\s*name:\s*"(\w+)"/).map { String($0.1) }
        let documented = try Self.firstCells(of: "docs/installing.md", under: "Product")
        #expect(Set(documented) == Set(products.filter { !$0.hasPrefix("_") }))
    }
}
