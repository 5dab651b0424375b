import Holdfast

/// The name of a role: one of the four of section 2, or one that a delegation chose.
struct RoleName: Sendable, Hashable {
    let octets: [UInt8]

    static let root = RoleName("root")
    static let timestamp = RoleName("timestamp")
    static let snapshot = RoleName("snapshot")
    static let targets = RoleName("targets")
    private static let topLevel = [root, timestamp, snapshot, targets]

    private init(_ name: StaticString) { octets = Array(name.description.utf8) }

    /// The name of a delegated role.
    /// - Throws: ``TUFError`` `malformed` for an empty name, a name that is too long, and the names of the top-level
    ///   roles, whose files it would replace.
    init(delegated octets: [UInt8]) throws(TUFError) {
        self.octets = octets
        guard !octets.isEmpty, octets.count <= TUFSettings.nameBytes, !Self.topLevel.contains(self) else {
            throw TUFError(
                .malformed, expected: "a name of a delegated role, at most \(TUFSettings.nameBytes) octets",
                found: octets.quotedName)
        }
    }

    /// The key of the role's entry in the snapshot.
    var snapshotKey: [UInt8] { octets + Array(".json".utf8) }

    /// The name of its file in the repository. With consistent snapshots, it begins with the version (section 6.2).
    func remoteFile(version: Int64?) -> String {
        (version.map { "\($0)." } ?? "") + QuotedName.part(octets) + ".json"
    }

    /// The name of the file in which the client stores it.
    var localFile: String {
        let name = QuotedName.file(octets)
        // On a file system that ignores case, `Root.json` would be the trusted root.
        guard !Self.topLevel.contains(self),
            Self.topLevel.contains(where: { name.lowercased().utf8.elementsEqual($0.octets) })
        else { return name + ".json" }
        return "%\(HexText.text(of: octets.prefix(1)).uppercased())" + name.dropFirst() + ".json"
    }

    /// The name for messages; quoted unless it is a top-level role.
    var text: String { Self.topLevel.contains(self) ? String(decoding: octets, as: UTF8.self) : octets.quotedName }
}
