import Foundation
import HoldfastPublishing

/// A place with the files of a repository, for the code of HoldfastPublishing. Nothing is written to it.
struct PublicRepositoryPlace: TUFRepositoryStorage {
    let place: PublicPlace
    let app: AppName

    var name: String { "repo/\(app) in \(place.description)" }

    func data(at path: String, atMost limit: Int) async throws -> Data? {
        guard path.utf8.starts(with: RepositoryPath.served.utf8) else { return nil }
        let bytes = try await place.read(
            RepositoryPath.prefix(of: app) + path.dropFirst(RepositoryPath.served.utf8.count))
        guard let bytes else { return nil }
        guard bytes.count <= limit else {
            throw ServerError(.file, of: path, expected: "at most \(limit) bytes", found: "\(bytes.count)")
        }
        return Data(bytes)
    }

    func names(in folder: String) -> [String] { [] }

    func replace(_ path: String, _ old: Data?, with new: Data?) -> Bool { false }
}
