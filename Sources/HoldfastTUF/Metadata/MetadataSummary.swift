import Holdfast

package import struct Foundation.Date

/// What a file of metadata says, for people. Only a root names the keys that sign it, so of the others no signature is
/// looked at: that takes a root that is trusted.
package struct MetadataSummary {
    /// A role that a root names.
    package struct Role {
        package let name: String
        package let threshold: Int
        package let keys: Int
    }

    /// `root`, `timestamp`, `snapshot` or `targets`.
    package let type: String
    package let version: Int64
    package let expires: Date
    /// The ids of the keys that signed, by their own word.
    package let signatures: [String]
    /// The roles of a root; empty for the others.
    package let roles: [Role]
    /// The names of the targets; empty for the others.
    package let targets: [String]
    /// Whether a threshold of its own keys has signed a root; nil for the others.
    package let isSignedByItsKeys: Bool?

    /// - Throws: ``TUFError`` for what no client accepts.
    package init(_ octets: [UInt8]) throws(TUFError) {
        let file = try SignedFile(octets, maximumBytes: TUFSettings.pythonTUF.targetsBytes)
        guard case .text(let type)? = file.signed["_type"] else {
            throw TUFError(.malformed, expected: "a type", found: "none")
        }
        let common: CommonFields
        var roles: [Role] = []
        var targets: [String] = []
        var isSigned: Bool?
        if type.elementsEqual(RoleName.root.octets) {
            let root = try RootMetadata(file)
            common = root.common
            roles = [root.root, root.timestamp, root.snapshot, root.targets].map {
                Role(name: $0.role.text, threshold: $0.threshold, keys: $0.keyIDs.count)
            }
            isSigned =
                (try? root.root.verify(file, section: "5.3.4", meter: WorkMeter(TUFSettings()))) != nil
            self.type = RoleName.root.text
        } else if type.elementsEqual(RoleName.timestamp.octets) {
            common = try TimestampMetadata(file).common
            self.type = RoleName.timestamp.text
        } else if type.elementsEqual(RoleName.snapshot.octets) {
            common = try SnapshotMetadata(file).common
            self.type = RoleName.snapshot.text
        } else {
            let metadata = try TargetsMetadata(file)
            common = metadata.common
            targets = Self.sorted(metadata.targets.keys)
            self.type = RoleName.targets.text
        }
        version = common.version
        expires = Date(wholeSeconds: common.expires)
        signatures = Self.sorted(file.signatures.keys)
        self.roles = roles
        self.targets = targets
        isSignedByItsKeys = isSigned
    }

    private static func sorted(_ names: some Sequence<[UInt8]>) -> [String] {
        names.sorted { $0.lexicographicallyPrecedes($1) }.map(\.quotedName)
    }
}
