import Foundation
import Testing

/// A page of the documentation, whose blocks of commands tests run as they stand there.
struct Manual {
    /// A command, as a reader types it.
    struct Command {
        let text: String
        /// The others who type it, as the comment behind it says: `# so do bob and carol`, `# so does bob`.
        let others: [String]
        /// The exit status that the comment behind it states: `# exits with 1`.
        let status: Int32
    }

    /// A block of code.
    struct Block {
        /// The text of the comment above it, such as `run: restore`; empty if missing.
        let mark: String
        let language: String
        let text: String

        /// Each line as a command; one that ends with a backslash goes on in the next.
        var commands: [Command] {
            text.replacing("\\\n", with: " ").split(separator: "\n").map { line in
                let halves = String(line).components(separatedBy: "  # ")
                let comment = halves.count > 1 ? halves[1] : ""
                let others = comment.firstMatch(of: /so do(?:es)? ([a-z]+(?: and [a-z]+)*)/)?.1
                let status = comment.firstMatch(of: /exits with ([0-9])/)?.1
                return Command(
                    text: halves[0].trimmingCharacters(in: .whitespaces),
                    others: others?.components(separatedBy: " and ") ?? [], status: status.flatMap { Int32($0) } ?? 0)
            }
        }
    }

    /// The folder of the repository.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    let blocks: [Block]

    /// The pages for operators, without `Server/README.md`.
    private static let pages = ["operating", "people", "backup", "machines"].map { "docs/server/\($0).md" }

    /// The blocks of all pages for operators.
    static func procedures() throws -> Manual { Manual(blocks: try pages.flatMap { try Manual($0).blocks }) }

    private init(blocks: [Block]) { self.blocks = blocks }

    /// Reads a page.
    /// - Parameter page: its path in the repository.
    init(_ page: String) throws {
        let text = try String(contentsOf: Self.root.appending(path: page), encoding: .utf8)
        let parts = text.components(separatedBy: "```")
        blocks = zip(parts, parts.dropFirst()).enumerated().compactMap { index, pair in
            guard index % 2 == 0, let end = pair.1.firstIndex(of: "\n") else { return nil }
            let above = pair.0.split(separator: "\n").last ?? ""
            let isMarked = above.hasPrefix("<!-- ") && above.hasSuffix(" -->")
            return Block(
                mark: isMarked ? String(above.dropFirst(5).dropLast(4)) : "", language: String(pair.1[..<end]),
                text: String(pair.1[pair.1.index(after: end)...]))
        }
    }

    /// The only block with a mark.
    func block(_ mark: String) throws -> Block {
        let found = blocks.filter { $0.mark == mark }
        try #require(found.count == 1, "\(found.count) blocks are marked with \(mark)")
        return found[0]
    }
}
