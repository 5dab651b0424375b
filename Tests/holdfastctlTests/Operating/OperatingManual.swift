import Foundation
import Testing

/// docs/operating.md and the README, whose marked blocks are run as they are printed.
enum OperatingManual {
    /// The fenced block after `<!-- run: NAME -->`.
    static func block(_ name: String) throws -> String {
        let lines = try text.split(separator: "\n", omittingEmptySubsequences: false)
        let mark = try #require(lines.firstIndex { $0 == "<!-- run: \(name) -->" }, "no document has \(name)")
        let body = lines[(mark + 2)...].prefix { !$0.hasPrefix("```") }
        try #require(lines[mark + 1].hasPrefix("```") && !body.isEmpty)
        return body.joined(separator: "\n") + "\n"
    }

    private static var text: String {
        get throws {
            let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent()
            return try ["docs/operating.md", "README.md"].map {
                try String(contentsOf: root.appending(path: $0), encoding: .utf8)
            }.joined()
        }
    }
}
