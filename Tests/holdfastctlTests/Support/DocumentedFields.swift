import Foundation
import Testing

/// The fields of the JSON that each verb prints, as docs/reference/output.md names them.
struct DocumentedFields {
    /// The fields of docs/reference/output.md; nil if it cannot be read.
    static let all = try? DocumentedFields()

    /// The paths of the fields, such as `chain.subject`, by verb.
    let fields: [String: Set<String>]

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    init() throws {
        let text = try String(contentsOf: Self.root.appending(path: "docs/reference/output.md"), encoding: .utf8)
        let start = try #require(text.range(of: "\n## Fields"))
        let end = try #require(text.range(of: "\n## Metrics", range: start.upperBound..<text.endIndex))
        let lines = text[start.upperBound..<end.lowerBound].split(separator: "\n")
        var fields: [String: Set<String>] = [:]
        // A table of an object that several verbs print has its name in the first cell of its head.
        var shared: [String: Set<String>] = [:]
        var uses: [(verb: String, field: String, object: String)] = []
        var (verbs, object) = ([String](), String?.none)
        for line in lines {
            if line.hasPrefix("### ") {
                verbs = Self.words(line)
                object = nil
                for verb in verbs { fields[verb] = ["schema"] }
                continue
            }
            guard line.hasPrefix("| ") else { continue }
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let names = Self.words(cells[0])
            guard !names.isEmpty else {
                object = verbs.isEmpty ? cells[0] : nil
                continue
            }
            if let object {
                shared[object, default: []].formUnion(names)
                continue
            }
            let used = cells[1].firstMatch(of: /\[([a-z]+)\]\(#objects-that-several-verbs-print\)/).map { String($0.1) }
            for verb in verbs {
                fields[verb, default: []].formUnion(names)
                if let used { uses += names.map { (verb, $0, used) } }
            }
        }
        for use in uses {
            let object = try #require(shared[use.object], "\(use.object)")
            fields[use.verb, default: []].formUnion(object.map { "\(use.field).\($0)" })
        }
        self.fields = fields
    }

    private static func words(_ text: some StringProtocol) -> [String] {
        String(text).matches(of: /`([^`]+)`/).map { String($0.1) }
    }

    /// The longest name of a verb with which arguments begin.
    func verb(of arguments: [String]) -> String? {
        (1...2).reversed().lazy.map { arguments.prefix($0).joined(separator: " ") }.first { fields[$0] != nil }
    }

    /// The paths of the fields that an object has.
    static func paths(of value: Any, below path: String = "") -> Set<String> {
        switch value {
        case let object as [String: Any]:
            return object.reduce(into: []) { paths, member in
                let name = path.isEmpty ? member.key : "\(path).\(member.key)"
                paths.insert(name)
                paths.formUnion(Self.paths(of: member.value, below: name))
            }
        case let list as [Any]: return list.reduce(into: []) { $0.formUnion(Self.paths(of: $1, below: path)) }
        default: return []
        }
    }

    /// The fields that a verb printed and that are not documented.
    func undocumented(_ paths: Set<String>, of verb: String) -> Set<String> {
        let known = fields[verb] ?? []
        return paths.filter { path in
            guard !known.contains(path) else { return false }
            // `keyNames.ID` stands for keys that the document makes.
            let parent = path.split(separator: ".").dropLast().joined(separator: ".")
            return !known.contains {
                $0.hasPrefix("\(parent).") && $0.dropFirst(parent.count + 1).allSatisfy(\.isUppercase)
            }
        }
    }

    /// Fails the test if a verb printed fields that are not documented, or more than one object in a line.
    static func check(_ output: String, of arguments: [String]) {
        guard arguments.contains("--json"), !arguments.contains("--plan"), !output.isEmpty,
            let verb = all?.verb(of: arguments)
        else { return }
        for line in output.split(separator: "\n") where line.hasPrefix("{") {
            guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
                Issue.record("\(arguments.joined(separator: " ")): no object in a line: \(line)")
                continue
            }
            #expect(object["schema"] as? Int == 1, "\(verb)")
            let more = all?.undocumented(paths(of: object), of: verb) ?? []
            #expect(more.isEmpty, "\(verb) prints \(more.sorted()), which docs/reference/output.md does not have")
        }
    }
}
