import Crypto
import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTUF

/// The content of a root file (section 4.3) while it is being changed.
struct TUFRootContents {
    struct Role: Equatable {
        var keyIDs: [[UInt8]]
        var threshold: Int64
    }

    var version: Int64
    var expires: Date
    private(set) var roles: [TUFRole: Role] = [:]
    private var keys: [[UInt8]: JSONTree] = [:]
    /// The whole content. It preserves fields that this version does not know.
    private let tree: JSONTree

    init(version: Int64, expires: Date) {
        self.version = version
        self.expires = expires
        tree = JSONTree(fields: [
            "_type": JSONTree(text: "root"), "spec_version": JSONTree(text: TUFContents.specification),
            "consistent_snapshot": .boolean(true),
        ])
    }

    /// Reads a root file.
    init(_ file: TUFMetadataFile) {
        (version, expires, tree) = (file.version, file.end, file.signed)
        for (id, key) in file.signed["keys"]?.members ?? [] { keys[id] = key }
        for role in TUFRole.allCases {
            let named = Array(role.rawValue.utf8)
            guard let object = file.signed["roles"]?.members.first(where: { $0.key == named })?.value,
                case .array(let ids)? = object["keyids"], case .integer(let threshold)? = object["threshold"]
            else { continue }
            roles[role] = Role(
                keyIDs: ids.compactMap { if case .text(let id) = $0 { Array(id) } else { nil } }, threshold: threshold)
        }
    }

    /// The keys of a role, without those that can no longer sign.
    func publicKeys(of role: TUFRole) -> [TUFPublicKey] {
        (roles[role]?.keyIDs ?? []).compactMap { id in keys[id].flatMap { TUFPublicKey(id: id, $0) } }
    }

    /// The holder of a key, according to the root; nil for a key without a name.
    func name(of id: [UInt8]) -> String? { keys[id].flatMap { TUFPublicKey(id: id, $0)?.name } }

    /// A key under its id in the root; nil if the root does not list it.
    func listed(_ key: TUFPublicKey) -> TUFPublicKey? {
        keys.lazy.compactMap { TUFPublicKey(id: $0.key, $0.value) }.first { $0.isSameKey(as: key) }
    }

    /// Sets the keys and the threshold of a role.
    mutating func set(_ role: TUFRole, _ entry: Role, adding new: [TUFPublicKey] = []) {
        for key in new { keys[Array(key.id.utf8)] = key.tree }
        roles[role] = entry
    }

    /// Checks the rules for repositories that Holdfast makes; they are stricter than the clients' requirements.
    /// - Parameter live: the previous root; nil for the first.
    func check(after live: TUFMetadataFile?) throws(TUFRepositoryError) {
        try checkKeys(after: live.map(TUFRootContents.init)?.keys ?? [:])
        for role in TUFRole.allCases {
            guard let entry = roles[role], !entry.keyIDs.isEmpty else {
                throw TUFRepositoryError(
                    .invalidRoles, of: role.rawValue, expected: "at least one key", found: "none")
            }
            guard (1...Int64(entry.keyIDs.count)).contains(entry.threshold) else {
                throw TUFRepositoryError(
                    .invalidRoles, of: role.rawValue, expected: "a threshold of 1 to \(entry.keyIDs.count)",
                    found: "\(entry.threshold)")
            }
            let usable = publicKeys(of: role).count
            guard Int64(usable) >= entry.threshold else {
                throw TUFRepositoryError(
                    .invalidRoles, of: role.rawValue, expected: "\(entry.threshold) keys with which somebody can sign",
                    found: "\(usable)")
            }
            guard Set(entry.keyIDs).count == entry.keyIDs.count else {
                throw TUFRepositoryError(
                    .invalidRoles, of: role.rawValue, expected: "each key once", found: "one twice")
            }
        }
        // An attacker who breaks into the machine that publishes must not be able to sign pins.
        let online = TUFRole.allCases.filter(\.isOnline).flatMap { roles[$0]?.keyIDs ?? [] }
        for role in TUFRole.allCases where !role.isOnline {
            guard let shared = roles[role]?.keyIDs.first(where: online.contains) else { continue }
            throw TUFRepositoryError(
                .invalidRoles, of: role.rawValue, expected: "keys that sign nothing online",
                found: "the online key \(TUFText.short(shared))")
        }
    }

    /// Checks key ids. People compare ids, but for clients an id is only a name that may stand for any key (TAP 12). An
    /// id must therefore always stand for the same key, and the id of a new key is its hash.
    private func checkKeys(after live: [[UInt8]: JSONTree]) throws(TUFRepositoryError) {
        for id in Set(keys.keys).union(roles.values.flatMap(\.keyIDs)).sorted(by: { $0.lexicographicallyPrecedes($1) })
        {
            let key = keys[id]
            if let before = live[id] {
                // Compare canonical JSON, because the order of members does not matter.
                guard let key, key.canonical == before.canonical else {
                    throw Self.invalidKeys(
                        "the key \(TUFText.short(id)) as it is published", key == nil ? "none" : "another under its id")
                }
            } else {
                guard let key, id == Array(HexText.text(of: SHA256.hash(data: key.canonical)).utf8) else {
                    throw Self.invalidKeys(
                        "key ids that are the SHA-256 of their keys",
                        "\(TUFText.short(id)) for \(key == nil ? "no key" : "another")")
                }
            }
        }
        var identities: Set<[UInt8]> = []
        for (id, key) in keys {
            guard let identity = try? MetadataKey(key).identity else { continue }
            guard identities.insert(identity).inserted else {
                throw Self.invalidKeys("each key under one id", "one that is listed under \(TUFText.short(id)) as well")
            }
        }
    }

    private static func invalidKeys(_ expected: String, _ found: String) -> TUFRepositoryError {
        TUFRepositoryError(.invalidKeys, of: "root", expected: expected, found: found)
    }

    /// The root file, without signatures.
    func file() throws(TUFRepositoryError) -> TUFMetadataFile {
        let used = Set(roles.values.flatMap(\.keyIDs))
        let roleTrees = roles.map { role, entry in
            (
                key: Array(role.rawValue.utf8),
                value: JSONTree(fields: [
                    "keyids": .array(entry.keyIDs.map { .text($0[...]) }), "threshold": .integer(entry.threshold),
                ])
            )
        }
        let signed = tree.setting([
            "version": .integer(version), "expires": JSONTree(text: TUFContents.time(expires)),
            "keys": JSONTree(members: keys.filter { used.contains($0.key) }.map { ($0.key, $0.value) }),
            "roles": JSONTree(members: roleTrees),
        ])
        return try TUFContents.file(signed, of: .root)
    }
}
