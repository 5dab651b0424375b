import Foundation
import Holdfast
import HoldfastTUF

/// What a folder has served under the names that always mean the newest, by SHA-256.
///
/// An upload replaces only what is known here. A timestamp that is unknown was published from another folder, and would be
/// rolled back.
struct TUFReplacedFiles: Sendable, Equatable {
    private struct File: Codable {
        static let version = 1

        var version = File.version
        var replaced: [String: [String]]
    }

    /// For each name. So many publications may wait for an upload.
    private static let maximumCount = 100
    /// Far more than that takes.
    static let maximumBytes = 1 << 16

    /// By the path of the object, the newest first.
    private var digests: [String: [String]] = [:]

    init() {}

    /// - Throws: ``TUFRepositoryError`` `damaged`.
    init(_ data: Data, named name: String) throws(TUFRepositoryError) {
        let file = try? JSONDecoder().decode(File.self, from: data)
        guard let file, file.version == File.version,
            file.replaced.values.joined().allSatisfy({ HexText.octets(of: $0.utf8)?.count == 32 })
        else {
            throw TUFRepositoryError(
                .damaged, of: name, expected: "version \(File.version), and SHA-256 of files", found: "something else",
                remedy: "Delete it; if an upload is refused afterwards, download what is served into public first.")
        }
        digests = file.replaced
    }

    subscript(_ path: String) -> [String] { digests[path] ?? [] }

    /// Adds what is about to be replaced.
    mutating func add(_ data: Data, at path: String) {
        let digest = TUFContents.digest(data)
        digests[path] = Array(([digest] + self[path].filter { $0 != digest }).prefix(Self.maximumCount))
    }

    /// As the folder keeps it, always the same for the same content.
    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(File(replaced: digests)) + Data("\n".utf8)
    }
}
