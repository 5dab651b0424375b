import Crypto
import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting

@testable import HoldfastTUF

/// A repository in memory, honest unless a test makes it otherwise: metadata is plain JSON that a test may change in any
/// way before it is signed and served.
struct TestRepository {
    typealias Object = [String: Any]

    /// The `signed` part of each role.
    var roles: [String: Object] = [:]
    /// The signers of each role.
    var signers: [String: [TestSigner]] = [:]
    /// The served files, by kind and path.
    var files: [RepositoryFile: Data] = [:]
    var describesFiles = false
    private(set) var artifacts: [String: Data] = [:]
    let start: Date

    static let start = Date(timeIntervalSince1970: 1_900_000_000)

    /// - Parameter consistent: whether it has consistent snapshots; nil for a root that does not say.
    init(start: Date = Self.start, consistent: Bool? = true) throws {
        self.start = start
        roles["root"] = common("root").merging([
            "keys": Object(), "roles": Object(),
        ]) { $1 }
        if let consistent { roles["root"]?["consistent_snapshot"] = consistent }
        roles["timestamp"] = common("timestamp").merging(["meta": ["snapshot.json": ["version": 1]]]) { $1 }
        roles["snapshot"] = common("snapshot").merging(["meta": ["targets.json": ["version": 1]]]) { $1 }
        roles["targets"] = common("targets").merging(["targets": Object()]) { $1 }
        for role in ["root", "timestamp", "snapshot", "targets"] { setKeys(of: role, [try TestSigner()]) }
        try publish("root")
        try publishAll(increment: false)
    }

    func common(_ type: String, days: Double = 30) -> Object {
        ["_type": type, "spec_version": "1.0.34", "version": 1, "expires": Self.time(start + days * 86_400)]
    }

    static func time(_ date: Date) -> String { date.formatted(.iso8601) }

    // MARK: Fields

    func version(of role: String) -> Int { roles[role]?["version"] as? Int ?? 0 }

    mutating func expire(_ role: String, at date: Date) { roles[role]?["expires"] = Self.time(date) }

    mutating func change(_ role: String, _ body: (inout Object) -> Void) { body(&roles[role, default: [:]]) }

    /// Sets who signs a top-level role, in root and here.
    mutating func setKeys(of role: String, _ keys: [TestSigner], threshold: Int = 1) {
        signers[role] = keys
        change("root") { root in
            var all = root["keys"] as? Object ?? [:]
            for key in keys { all[key.id] = key.object }
            root["keys"] = all
            var roles = root["roles"] as? Object ?? [:]
            roles[role] = ["keyids": keys.map(\.id), "threshold": threshold]
            root["roles"] = roles
        }
    }

    mutating func addTarget(_ name: String, _ data: Data, to role: String = "targets") {
        artifacts[name] = data
        change(role) { signed in
            var targets = signed["targets"] as? Object ?? [:]
            targets[name] = Self.description(data)
            signed["targets"] = targets
        }
        let digest = Self.digest(data)
        var parts = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let last = parts.removeLast()
        for file in [last, "\(digest).\(last)"] {
            let path = (parts + [file]).joined(separator: "/")
            files[RepositoryFile(kind: .target, path: path)] = data
        }
    }

    /// Delegates to a role that `publish` then knows.
    mutating func delegate(
        from delegator: String = "targets", to role: String, key: TestSigner, paths: [String]? = ["*"],
        hashPrefixes: [String]? = nil, terminating: Bool = false, days: Double = 30
    ) {
        if roles[role] == nil { roles[role] = common("targets", days: days).merging(["targets": Object()]) { $1 } }
        signers[role] = [key]
        change(delegator) { signed in
            var delegations = signed["delegations"] as? Object ?? ["keys": Object(), "roles": [Object]()]
            var keys = delegations["keys"] as? Object ?? [:]
            keys[key.id] = key.object
            delegations["keys"] = keys
            var entry: Object = ["name": role, "keyids": [key.id], "threshold": 1, "terminating": terminating]
            if let paths { entry["paths"] = paths }
            if let hashPrefixes { entry["path_hash_prefixes"] = hashPrefixes }
            delegations["roles"] = (delegations["roles"] as? [Object] ?? []) + [entry]
            signed["delegations"] = delegations
        }
    }

    // MARK: Publishing

    /// Signs a role and serves it; says so to the role above it.
    mutating func publish(_ role: String, increment: Bool = false) throws {
        if increment { change(role) { $0["version"] = ($0["version"] as? Int ?? 0) + 1 } }
        let data = try signed(role)
        serve(role, data)
        var entry: Object = ["version": version(of: role)]
        if describesFiles { entry.merge(Self.description(data)) { $1 } }
        switch role {
        case "root", "timestamp": break
        case "snapshot": change("timestamp") { $0["meta"] = ["snapshot.json": entry] }
        default:
            change("snapshot") { snapshot in
                var meta = snapshot["meta"] as? Object ?? [:]
                meta["\(role).json"] = entry
                snapshot["meta"] = meta
            }
        }
    }

    /// Everything but root, from the bottom up.
    mutating func publishAll(increment: Bool = true) throws {
        for role in roles.keys.sorted() where !["root", "timestamp", "snapshot"].contains(role) {
            try publish(role, increment: increment)
        }
        try publish("snapshot", increment: increment)
        try publish("timestamp", increment: increment)
    }

    func signed(_ role: String) throws -> Data {
        try Self.envelope(roles[role] ?? [:], by: signers[role] ?? [])
    }

    static func envelope(_ signed: Object, by signers: [TestSigner]) throws -> Data {
        let octets = try canonical(signed)
        let signatures = try signers.map { ["keyid": $0.id, "sig": try $0.signature(of: octets)] }
        return try JSONSerialization.data(withJSONObject: ["signed": signed, "signatures": signatures])
    }

    /// Whether it is what others sign is for the tests with python-tuf.
    static func canonical(_ value: Any) throws -> [UInt8] {
        var comparisons = 0
        let data = try JSONSerialization.data(withJSONObject: value)
        return try JSONTree([UInt8](data), maximumBytes: .max, comparisons: &comparisons).canonical
    }

    mutating func serve(_ role: String, _ data: Data) {
        let quoted = QuotedName.part(Array(role.utf8))
        let isConsistent = roles["root"]?["consistent_snapshot"] as? Bool ?? false
        let path = role == "root" || isConsistent && role != "timestamp" ? "\(version(of: role)).\(quoted)" : quoted
        files[RepositoryFile(kind: .metadata, path: path + ".json")] = data
    }

    /// The newest of what is served under a name.
    func served(_ path: String) -> Data? { files[RepositoryFile(kind: .metadata, path: path)] }

    static func description(_ data: Data) -> Object { ["length": data.count, "hashes": ["sha256": digest(data)]] }

    static func digest(_ data: Data) -> String { HexText.text(of: SHA256.hash(data: data)) }
}
