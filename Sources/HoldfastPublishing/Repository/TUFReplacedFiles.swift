import Foundation
import Holdfast
import HoldfastTUF

/// The earlier content of replaced files in a folder, by SHA-256.
///
/// An upload replaces only files that are listed here. An unknown timestamp was published from another folder, and
/// replacing it would roll it back.
struct TUFReplacedFiles: Sendable, Equatable {
    private struct File: Codable {
        static let version = 1

        var version = File.version
        var replaced: [String: [String]]
    }

    /// Maximum number of digests for each name: as many publications may wait for an upload.
    private static let maximumCount = 100
    /// Far more than the size of these digests.
    static let maximumBytes = 1 << 16

    /// The digests by the path of the object, the newest first.
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

    /// Adds a file that is about to be replaced.
    mutating func add(_ data: Data, at path: String) {
        let digest = TUFContents.digest(data)
        digests[path] = Array(([digest] + self[path].filter { $0 != digest }).prefix(Self.maximumCount))
    }

    /// The file in the folder. The same content always gives the same bytes.
    func json() throws(TUFRepositoryError) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return try encoder.encode(File(replaced: digests)) + Data("\n".utf8)
        } catch {
            throw TUFRepositoryError(
                .storage, of: TUFStoragePath.replaced, expected: "what can be written as JSON",
                found: ForeignErrorText.found(error))
        }
    }
}
