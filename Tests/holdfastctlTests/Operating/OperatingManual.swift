import Foundation
import Testing

/// The documents whose marked blocks are run as they are printed.
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
            try (pages + ["README.md"]).map {
                try String(contentsOf: DocumentedFields.root.appending(path: $0), encoding: .utf8)
            }.joined()
        }
    }

    /// Every block of commands or settings on these pages is run, or says why it is not.
    static let pages = [
        "CONTRIBUTING.md", "SECURITY.md", "docs/apps.md", "docs/concepts.md", "docs/emergencies.md",
        "docs/installing.md", "docs/migrating.md", "docs/migrating/alamofire.md", "docs/migrating/gcxtrustpolicy.md",
        "docs/migrating/ispcertificatepinning.md", "docs/migrating/trustkit.md", "docs/migrating/wultrasslpinning.md",
        "docs/monitoring.md", "docs/operating.md", "docs/renewals.md", "docs/reports.md", "docs/services.md",
        "docs/should-you-pin.md",
    ]
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
        for page in OperatingManual.pages {
            let text = try String(contentsOf: root.appending(path: page), encoding: .utf8)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            for (mark, fence) in zip(lines, lines.dropFirst())
            where fence.wholeMatch(of: /```(sh|shell|bash|console|ini|cron|nginx)/) != nil {
                let isMarked = mark.hasPrefix("<!-- run: ") || mark.hasPrefix("<!-- not run: needs ")
                #expect(isMarked, "\(page): \(mark)\n\(fence)")
            }
        }
        let names = try OperatingManual.text.matches(of: /<!-- run: ([a-z.-]+) -->/).map { String($0.1) }
        #expect(names.count > 40 && Set(names).count == names.count)
        for name in names { #expect(tests.contains("\"\(name)\""), "no test runs \(name)") }
    }
}
