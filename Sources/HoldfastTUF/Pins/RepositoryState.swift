import Foundation
import Holdfast

/// The state of a ``PinRepository``: its pins with the files that prove them, and the newest metadata that was trusted.
///
/// After a successful update both are the same bundle. An update that fails halfway, for example because a pin file
/// violates the app's floor, leaves the pins unchanged, with newer metadata that prevents a rollback.
struct RepositoryState: Sendable {
    /// The pins; nil if there are no pins yet.
    let pins: VerifiedPins?
    /// The newest metadata, without a pin file. It is verified whenever it is used.
    let seen: RepositoryBundle
    /// Whether the pins differ from the previous ones.
    var bringsNewPins = false

    /// The state as it is stored: `proof`, the bundle that proves the pins, and `seen`, if it is not the same metadata.
    var json: Data {
        var parts: [Data] = []
        if let pins { parts.append(Data("\"proof\": ".utf8) + pins.bundle.json) }
        if pins?.bundle.metadata != seen { parts.append(Data("\"seen\": ".utf8) + seen.json) }
        return Data("{".utf8) + Data(parts.joined(separator: Data(",".utf8))) + Data("}".utf8)
    }

    /// Reads a stored state. Nothing in it is verified yet.
    static func read(
        _ data: Data, maximumBytes: Int
    ) throws(DocumentError) -> (proof: RepositoryBundle?, seen: RepositoryBundle?) {
        var reader = try StrictJSONReader([UInt8](data), maximumBytes: maximumBytes)
        var (proof, seen): (RepositoryBundle?, RepositoryBundle?)
        try reader.beginObject()
        while let field = try reader.nextKey() {
            switch field {
            case "proof": proof = try RepositoryBundle(&reader)
            case "seen": seen = try RepositoryBundle(&reader)
            default: try reader.skipValue()
            }
        }
        try reader.finish()
        return (proof, seen)
    }
}

extension RepositoryBundle {
    /// The bundle without its pin file.
    var metadata: RepositoryBundle {
        var metadata = self
        metadata.pins = nil
        return metadata
    }

    /// Makes a bundle from the metadata that a client has in memory.
    /// - Parameter version: the version of the root from which the client started.
    init(_ memory: MetadataMemory, afterRoot version: Int64, _ settings: TUFSettings) {
        self.init()
        firstRoot = version + 1
        while let root = memory.data(
            of: StoredMetadataName(rootVersion: firstRoot + Int64(roots.count)), atMost: settings.rootBytes),
            roots.count < Self.mostRoots
        { roots.append(root) }
        timestamp = memory.data(of: StoredMetadataName(.timestamp), atMost: settings.timestampBytes)
        snapshot = memory.data(of: StoredMetadataName(.snapshot), atMost: settings.snapshotBytes)
        targets = memory.data(of: StoredMetadataName(.targets), atMost: settings.targetsBytes)
    }

    /// The memory of a client that continues from this bundle.
    var memory: MetadataMemory {
        let memory = MetadataMemory()
        var files: [(StoredMetadataName, Data?)] = [
            (StoredMetadataName(.root), roots.last), (StoredMetadataName(.timestamp), timestamp),
            (StoredMetadataName(.snapshot), snapshot), (StoredMetadataName(.targets), targets),
        ]
        for (index, root) in roots.enumerated() {
            files.append((StoredMetadataName(rootVersion: firstRoot + Int64(index)), root))
        }
        for (name, file) in files { _ = memory.replace(name, nil, with: file, atMost: .max) }
        return memory
    }
}
