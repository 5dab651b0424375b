import Foundation
import Holdfast

/// What a ``PinRepository`` knows: its pins with all that proves them, and the newest metadata that was trusted.
///
/// The two are one after an update that went well. One that ended early, such as for a pin file below the app's floor,
/// leaves newer metadata, which guards against rollback, and the pins as they were.
struct RepositoryState: Sendable {
    /// nil while there are none.
    let pins: VerifiedPins?
    /// The newest metadata, without a pin file. It is verified whenever it is used.
    let seen: RepositoryBundle
    /// Whether the pins are others than before.
    var bringsNewPins = false

    /// As it is kept: `proof`, the bundle that proves the pins, and `seen`, where it says something else.
    var json: Data {
        var parts: [Data] = []
        if let pins { parts.append(Data("\"proof\": ".utf8) + pins.bundle.json) }
        if pins?.bundle.metadata != seen { parts.append(Data("\"seen\": ".utf8) + seen.json) }
        return Data("{".utf8) + Data(parts.joined(separator: Data(",".utf8))) + Data("}".utf8)
    }

    /// Reads what is kept; nothing in it is verified yet.
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

    /// What a client has in memory.
    /// - Parameter version: of the root that the walk began with.
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

    /// Memory for a client that goes on from here.
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
