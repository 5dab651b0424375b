import Foundation

@testable import HoldfastTUF

extension RepositoryBundle {
    /// The bundle of a publisher's files: all roots, and of the other roles the file that the one above it names.
    init(_ repository: TestRepository, firstRoot: Int64 = 1, target: String = "pins.json") {
        self.init()
        self.firstRoot = firstRoot
        while let root = repository.served("\(firstRoot + Int64(roots.count)).root.json") { roots.append(root) }
        timestamp = repository.served("timestamp.json")
        snapshot = Self.file("snapshot", namedBy: timestamp, in: repository)
        targets = Self.file("targets", namedBy: snapshot, in: repository)
        pins = repository.artifacts[target]
    }

    private static func file(_ role: String, namedBy above: Data?, in repository: TestRepository) -> Data? {
        let object = above.flatMap { try? JSONSerialization.jsonObject(with: $0) } as? TestRepository.Object
        let meta = (object?["signed"] as? TestRepository.Object)?["meta"] as? TestRepository.Object
        let version = (meta?["\(role).json"] as? TestRepository.Object)?["version"] as? Int
        guard let version, let data = repository.served("\(version).\(role).json") else {
            return repository.served("\(role).json")
        }
        return data
    }
}
