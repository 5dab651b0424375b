import Foundation
import Testing

/// docs/operating.md, docs/migrating.md and the README, whose marked blocks are run as they are printed.
enum OperatingManual {
    /// The fenced block after `<!-- run: NAME -->`.
    static func block(_ name: String) throws -> String {
        let lines = try text.split(separator: "\n", omittingEmptySubsequences: false)
        let mark = try #require(lines.firstIndex { $0 == "<!-- run: \(name) -->" }, "no document has \(name)")
        let body = lines[(mark + 2)...].prefix { !$0.hasPrefix("```") }
        try #require(lines[mark + 1].hasPrefix("```") && !body.isEmpty)
        return body.joined(separator: "\n") + "\n"
    }

    static var text: String {
        get throws {
            try ["docs/operating.md", "docs/migrating.md", "README.md"].map {
                try String(contentsOf: DocumentedFields.root.appending(path: $0), encoding: .utf8)
            }.joined()
        }
    }
}

@Suite("The operator's manual, as a whole")
struct OperatingManualTests {
    @Test("Each block of commands or settings is run by a test, or says why it is not")
    func everyBlock() throws {
        let root = DocumentedFields.root
        var tests = ""
        let folder = root.appending(path: "Tests/holdfastctlTests")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            if file.pathExtension == "swift" { tests += try String(contentsOf: file, encoding: .utf8) }
        }
        let manual = try String(contentsOf: root.appending(path: "docs/operating.md"), encoding: .utf8)
        let lines = manual.split(separator: "\n", omittingEmptySubsequences: false)
        for (mark, fence) in zip(lines, lines.dropFirst())
        where ["```sh", "```ini", "```cron", "```nginx"].contains(fence) {
            #expect(mark.hasPrefix("<!-- run: ") || mark.hasPrefix("<!-- not run: needs "), "\(mark)\n\(fence)")
        }
        let names = try OperatingManual.text.matches(of: /<!-- run: ([a-z.-]+) -->/).map { String($0.1) }
        #expect(names.count > 40 && Set(names).count == names.count)
        for name in names { #expect(tests.contains("\"\(name)\""), "no test runs \(name)") }
    }
}
