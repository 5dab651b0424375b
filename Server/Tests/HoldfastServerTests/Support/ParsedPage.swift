import Foundation
import Testing

/// A page as `Python/page_elements.py` parses it.
struct ParsedPage: Decodable {
    struct Element: Decodable, Hashable {
        let tag: String
        /// Names and values, in their order.
        let attributes: [[String]]

        func value(_ name: String) -> String? { attributes.first { $0.first == name }?.last }
    }

    let elements: [Element]
    let text: String
    let problems: [String]

    /// The elements with the names of their attributes, without any value.
    var skeleton: [[String]] { elements.map { [$0.tag] + $0.attributes.map { $0.first ?? "" } } }

    /// Everything that an element leads to.
    var addresses: [String] {
        elements.flatMap { element in
            ["href", "src", "action", "formaction", "data", "xlink:href", "poster"].compactMap(element.value)
        }
    }

    /// Parses pages.
    static func all(_ pages: [String]) async throws -> [ParsedPage] {
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Python/page_elements.py")
        return try await withFolder { folder in
            let files = try pages.enumerated().map { number, page in
                let file = folder.appending(path: "\(number).html")
                try Data(page.utf8).write(to: file)
                return file.path
            }
            let (status, output) = try await ForeignProgram.run("python3", ["-B", script.path] + files, in: folder)
            try #require(status == 0)
            let parsed = try JSONDecoder().decode([ParsedPage].self, from: output)
            try #require(parsed.count == pages.count)
            return parsed
        }
    }
}
