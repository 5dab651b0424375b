import Foundation
import Testing

/// The files of `docs/vectors/`, which readers in other languages can run. With `HOLDFAST_WRITE_VECTORS=1` tests write
/// them again instead of comparing.
enum Vectors {
    /// The folder of the repository.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    static let folder = root.appending(path: "docs/vectors")

    static var writes: Bool { ProcessInfo.processInfo.environment["HOLDFAST_WRITE_VECTORS"] == "1" }

    static func url(_ name: String) -> URL { folder.appending(path: name) }

    /// The content of a file; nil while it is written for the first time.
    static func content(_ name: String) throws -> [String: Any]? {
        guard let data = try? Data(contentsOf: url(name)) else { return nil }
        return try JSONSerialization.jsonObject(with: data) as? [String: Any]
    }

    /// Compares a file with what this program makes now.
    static func expect(_ name: String, _ value: [String: Any], sourceLocation: SourceLocation = #_sourceLocation) throws
    {
        var made = try JSONSerialization.data(
            withJSONObject: value, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        made.append(0x0A)
        if writes { try made.write(to: url(name)) }
        #expect(
            try Data(contentsOf: url(name)) == made,
            "docs/vectors/\(name) is not what the program makes; see the difference before HOLDFAST_WRITE_VECTORS=1",
            sourceLocation: sourceLocation)
    }
}
