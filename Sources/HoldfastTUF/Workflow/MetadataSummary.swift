package import Foundation
package import Holdfast

/// A summary of a metadata file, for people who inspect one. It is read as strictly as a client reads it, but nothing
/// in it is proved, because a proof needs a trusted root (section 5.2).
package struct MetadataSummary {
    /// A role that a root names.
    package struct Role {
        package let name: String
        package let threshold: Int
        package let keys: Int
    }

    /// A key that a root lists.
    package struct Key {
        /// The key's id, which a signature names.
        package let id: [UInt8]
        /// The key as the root lists it.
        package let tree: JSONTree
        /// The pin of the key; nil for a key that verifies nothing.
        package let pin: Pin?
        /// The scheme or the kind of a key that verifies nothing; nil for a supported key.
        package let unsupportedName: String?
        /// The roles for which it signs.
        package let roles: [String]

        /// The id for people, in the same form as in ``MetadataSummary/signatures``.
        package var idText: String { id.quotedName }
    }

    /// `root`, `timestamp`, `snapshot` or `targets`.
    package let type: String
    package let version: Int64
    package let expires: Date
    /// The key ids of the signatures, which are not verified.
    package let signatures: [String]
    /// The roles of a root; empty for the others.
    package let roles: [Role]
    /// The keys of a root. For another file, the keys of the trusted root, if it is given. Sorted by id.
    package let keys: [Key]
    /// The names of the targets; empty for the others.
    package let targets: [String]
    /// Every value of the content except type, version, end and keys, including fields that clients ignore.
    package let values: [JSONTree.Leaf]
    /// Whether a root is signed by a threshold of its own keys; nil for other roles.
    package let checkByItsKeys: SignatureCheck?
    /// Whether a threshold of the keys that the trusted root names for the role has signed; for a root, whether its own
    /// keys have signed as well. nil without a trusted root. It is not meaningful for a delegated role, whose keys the
    /// root does not name.
    package let checkForRoot: SignatureCheck?

    /// - Parameter trustedRoot: the root metadata that clients trust; it must be signed by its own keys.
    /// - Throws: ``TUFError`` if no client would accept the file, or the trusted root.
    package init(_ octets: [UInt8], trustedRoot: [UInt8]? = nil) throws(TUFError) {
        let file = try SignedFile(octets, maximumBytes: TUFSettings.pythonTUF.targetsBytes)
        guard case .text(let type)? = file.signed["_type"] else {
            throw TUFError(.malformed, expected: "a type", found: "none")
        }
        let meter = WorkMeter(.pythonTUF)
        var trusted: RootMetadata?
        var keys: [Key] = []
        if let trustedRoot {
            let root = try RootStep(settings: .pythonTUF, meter: meter).initial(trustedRoot)
            keys = Self.keys(
                of: root, try SignedFile(trustedRoot, maximumBytes: TUFSettings.pythonTUF.targetsBytes))
            trusted = root
        }
        let common: CommonFields
        let signer: Delegator?
        var roles: [Role] = []
        var targets: [String] = []
        var own: SignatureCheck?
        if type.elementsEqual(RoleName.root.octets) {
            let root = try RootMetadata(file)
            common = root.common
            keys = Self.keys(of: root, file)
            roles = [root.root, root.timestamp, root.snapshot, root.targets].map {
                Role(name: $0.role.text, threshold: $0.threshold, keys: $0.keyIDs.count)
            }
            own = Self.check(file, by: root.root, meter)
            self.type = RoleName.root.text
            signer = trusted?.root
        } else if type.elementsEqual(RoleName.timestamp.octets) {
            common = try TimestampMetadata(file).common
            self.type = RoleName.timestamp.text
            signer = trusted?.timestamp
        } else if type.elementsEqual(RoleName.snapshot.octets) {
            common = try SnapshotMetadata(file).common
            self.type = RoleName.snapshot.text
            signer = trusted?.snapshot
        } else {
            let metadata = try TargetsMetadata(file)
            common = metadata.common
            targets = Self.sorted(metadata.targets.keys)
            self.type = RoleName.targets.text
            signer = trusted?.targets
        }
        version = common.version
        expires = Date(wholeSeconds: common.expires)
        signatures = Self.sorted(file.signatures.keys)
        self.roles = roles
        self.keys = keys
        self.targets = targets
        values = file.signed.leaves { names in
            names.count == 1
                && ["_type", "version", "expires", "keys"].contains { names[0].elementsEqual($0.utf8) }
        }
        checkByItsKeys = own
        checkForRoot = signer.map { signer in
            let check = Self.check(file, by: signer, meter)
            guard let own, own != .valid, check != .invalid else { return check }
            return own
        }
    }

    private static func keys(of root: RootMetadata, _ file: SignedFile) -> [Key] {
        let roles = [root.root, root.timestamp, root.snapshot, root.targets]
        return (file.signed["keys"]?.members ?? []).map { member in
            let id = Array(member.key)
            let key = try? MetadataKey(member.value)
            return Key(
                id: id, tree: member.value, pin: key?.pin, unsupportedName: key?.unsupportedName,
                roles: roles.filter { $0.keyIDs.contains(id) }.map(\.role.text))
        }.sorted { $0.id.lexicographicallyPrecedes($1.id) }
    }

    private static func check(_ file: SignedFile, by delegator: Delegator, _ meter: WorkMeter) -> SignatureCheck {
        do throws(TUFError) {
            try delegator.verify(file, section: "5.3.4", meter: meter)
            return .valid
        } catch {
            return error.code == .unsupportedAlgorithm ? .unsupported(error.found) : .invalid
        }
    }

    private static func sorted(_ names: some Sequence<[UInt8]>) -> [String] {
        names.sorted { $0.lexicographicallyPrecedes($1) }.map(\.quotedName)
    }
}
