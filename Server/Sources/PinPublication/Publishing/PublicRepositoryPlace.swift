package import Foundation
import HoldfastPublishing
package import ServerFoundation
import ServerModel

/// The files of a repository at a destination, for HoldfastPublishing. Read-only.
package struct PublicRepositoryPlace: TUFRepositoryStorage {
    package let place: PublicPlace
    package let app: AppName

    package init(place: PublicPlace, app: AppName) {
        self.place = place
        self.app = app
    }

    package var name: String { "repo/\(app) in \(place.description)" }

    package func data(at path: String, atMost limit: Int) async throws -> Data? {
        guard path.utf8.starts(with: RepositoryPath.served.utf8) else { return nil }
        let bytes = try await place.read(
            RepositoryPath.prefix(of: app) + path.dropFirst(RepositoryPath.served.utf8.count))
        guard let bytes else { return nil }
        guard bytes.count <= limit else {
            throw ServerError(.file, of: path, expected: "at most \(limit) bytes", found: "\(bytes.count)")
        }
        return Data(bytes)
    }

    package func names(in folder: String) -> [String] { [] }

    package func replace(_ path: String, _ old: Data?, with new: Data?) -> Bool { false }
}
