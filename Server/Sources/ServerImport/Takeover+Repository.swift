package import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import PinChanges
import PinPublication
package import ServerFoundation
import ServerModel
import ServerStore

extension Takeover {
    /// Takes over a repository of The Update Framework with all of its roots, so that apps that ship with any of them
    /// continue to work. The keys of root and targets stay with their holders, who sign the targets of the first
    /// change.
    /// - Parameters:
    ///   - folder: the folder of `holdfastctl repository`, or the one that a web server serves.
    ///   - keys: the private keys of snapshot and timestamp in PEM. A role without one needs a program (`app signer`).
    ///   - password: the password of encrypted keys.
    ///   - name: the name of the app here. Clients configured with another one keep theirs.
    ///   - refresh: the number of seconds after which clients request an update, if the pins do not specify it.
    /// - Throws: ``ServerError``: `invalidSignature` for a repository that clients refuse, `notPublishable` for one
    ///   that this server cannot continue, `invalidValue` for a key that signs neither snapshot nor timestamp.
    package init(
        repository folder: URL, keys: [String], password: [UInt8]?, as name: AppName, refresh: Int64
    ) async throws(ServerError) {
        let origin = RepositoryOrigin(folder)
        let state = try await Self.state(of: origin)
        guard let live = state.live, let first = live.roots.first, let root = live.root else {
            throw ServerError(
                .notFound, of: origin.name, expected: "a repository that is published", found: "one that never was",
                remedy: "Begin it here with app repository init: no app has its root yet.")
        }
        try Self.requireLayout(of: root, live.targets, in: origin.name)
        let pins = Array(live.pins)
        let format = try ContentFormat(
            .repository, refresh: Self.refresh(of: pins) ?? refresh, root: Digest(of: Array(first.data)),
            application: try Self.application(ofPins: pins, as: name))
        let (own, missing) = try Self.keys(keys, password, of: state)
        var notes = [
            "apps that ship with root \(first.version) or a later one follow, up to root \(root.version)",
            "apps ask for it where it was: let that address lead to repo/\(name)/",
            "the holders of targets sign the first change: app repository draft, once it is approved",
        ]
        notes += missing.map {
            "no key for \($0) was given: name its program with app signer before the change is published"
        }
        try self.init(
            "repository",
            [
                App(
                    name, keys: own, hosts: try Self.hosts(ofPins: pins), formats: [format], notes: notes,
                    repository: Self.files(of: live))
            ])
    }

    private static func state(of origin: RepositoryOrigin) async throws(ServerError) -> TUFRepositoryState {
        let isThere = try await RepositoryFiles.translating(.file, of: origin.name) { () throws(TUFRepositoryError) in
            try await origin.isThere()
        }
        guard isThere else {
            throw ServerError(
                .notFound, of: origin.name, expected: "metadata/1.root.json, in the folder or in its folder public",
                found: "none",
                remedy: "Name the folder that the web server serves, with all roots from the first one on.")
        }
        return try await RepositoryFiles.translating(.invalidSignature, of: origin.name) {
            () throws(TUFRepositoryError) in
            try await origin.state(includingDrafts: false)
        }
    }

    /// The next publication has versions in its file names, and one target: clients that request other names would no
    /// longer find them.
    private static func requireLayout(
        of root: TUFMetadataFile, _ targets: TUFMetadataFile, in name: String
    ) throws(ServerError) {
        let object = try? JSONSerialization.jsonObject(with: root.data) as? [String: Any]
        guard let signed = object?["signed"] as? [String: Any], signed["consistent_snapshot"] as? Bool == true else {
            throw ServerError(
                .notPublishable, of: "\(name), root \(root.version)", expected: "consistent_snapshot",
                found: "a root without",
                remedy: "Publish a next root with it where the repository is now, and take it over then.")
        }
        if let strange = targets.strangeFields {
            throw ServerError(
                .notPublishable, of: "\(name), targets \(targets.version)", expected: "pins.json and nothing else",
                found: strange, remedy: "Publish targets without it where the repository is now, or leave it there.")
        }
    }

    /// The files that clients need from now on: every root, and the newest of everything else.
    private static func files(of live: TUFRepositoryState.Live) -> [String: [UInt8]] {
        var files = [
            RepositoryPath.timestamp: Array(live.timestamp.data),
            "metadata/\(live.snapshot.version).snapshot.json": Array(live.snapshot.data),
            "metadata/\(live.targets.version).targets.json": Array(live.targets.data),
            "targets/\(Digest(of: Array(live.pins))).pins.json": Array(live.pins),
        ]
        for root in live.roots { files["metadata/\(root.version).root.json"] = Array(root.data) }
        return files
    }

    private struct Refresh: Decodable {
        struct Span: Decodable { let after: Int64 }

        let refresh: Span
    }

    private static func refresh(of pins: [UInt8]) -> Int64? {
        (try? JSONDecoder().decode(Refresh.self, from: Data(pins)))?.refresh.after
    }

    // MARK: Keys

    /// - Returns: the keys, and the roles without one.
    private static func keys(
        _ given: [String], _ password: [UInt8]?, of state: TUFRepositoryState
    ) throws(ServerError) -> (keys: [Key], missing: [String]) {
        var signers: [(key: TUFSigningKey, isEncrypted: Bool)] = []
        for pem in given {
            let key = try ServerError.translating(.invalidValue, of: "key") { () throws(SigningError) in
                try TUFSigningKey(pem: pem, password: password)
            }
            try requireOnline(key.publicKey, state)
            signers.append((key, Array(pem.utf8).contains(Array("ENCRYPTED".utf8))))
        }
        var (keys, missing): ([Key], [String]) = ([], [])
        for purpose in [SealedKey.Purpose.snapshot, .timestamp] {
            guard let role = purpose.role else { continue }
            let threshold = try ServerError.translating(.notPublishable, of: "root") { () throws(TUFRepositoryError) in
                try state.keys(of: role, in: .published).threshold
            }
            guard threshold == 1 else {
                throw ServerError(
                    .notPublishable, of: "role \(role.rawValue)",
                    expected: "one signature: the server has one key of a role",
                    found: "\(threshold)",
                    remedy: "Publish a next root where one of its keys is enough, and take it over then.")
            }
            let listed = state.publicKeys(of: [role])
            let found = signers.lazy.compactMap { signer in
                listed.first(where: signer.key.publicKey.isSameKey).map { (signer: signer, id: $0.id) }
            }.first
            guard let found, let pem = found.signer.key.pem else {
                missing.append(role.rawValue)
                continue
            }
            keys.append(
                Key(
                    purpose: purpose, certificate: nil, configured: found.id,
                    wasInPlainText: !found.signer.isEncrypted, pem: pem))
        }
        return (keys, missing)
    }

    /// The keys of root and targets can create pins, so they must stay with people.
    private static func requireOnline(_ key: TUFPublicKey, _ state: TUFRepositoryState) throws(ServerError) {
        func isListed(_ role: TUFRole) -> Bool { state.publicKeys(of: [role]).contains(where: key.isSameKey) }
        for role in [TUFRole.root, .targets] where isListed(role) {
            throw ServerError(
                .notPublishable, of: "key", expected: "a key of snapshot or timestamp alone",
                found: "one that signs \(role.rawValue) as well",
                remedy:
                    "Give snapshot and timestamp keys of their own, with a next root that is published where the repository is now."
            )
        }
        guard isListed(.snapshot) || isListed(.timestamp) else {
            throw ServerError(
                .invalidValue, of: "key", expected: "a key that the root names for snapshot or timestamp",
                found: "another")
        }
    }
}
