import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// A server's folder with many apps, each with a publication: people and gates would need days for it, and here a few
/// transactions write it. Approvals, keys and the audit are real, since the server verifies them when it starts.
struct FilledServer {
    /// The data of each app.
    struct Shape {
        let apps: Int
        /// The hosts that its content names.
        let hosts: @Sendable (_ app: Int) throws -> [ContentHost]
        /// The monitored hosts.
        var watched: @Sendable (_ app: Int) throws -> [CatalogHost] = { _ in [] }
        /// DER of the anchors of its clients; if none is named, one that no chain here ends at.
        var anchors: [[UInt8]] = []
        /// The bytes of its list; nil for none.
        var list: (@Sendable (_ app: Int) -> [UInt8])?
    }

    let folder: ServerFolder
    private let approvers: [ApproverPrivateKey]

    private static let names = ["alice", "bob"]
    /// Smaller transactions copy the known data too often, larger ones keep too much in memory.
    private static let appsAtOnce = 100
    static let life: Int64 = 180 * 86_400

    static func name(_ app: Int) throws -> AppName { try AppName("app-\(app)") }

    /// Makes a folder, and fills it.
    /// - Parameter database: the destination of its data; nil for the folder.
    init(
        in folder: URL, _ shape: Shape, clock: any WallClock, database: PostgreSQLAddress? = nil
    ) async throws {
        self.folder = ServerFolder(folder.appending(path: "data"), database: database)
        approvers = try Self.names.map { _ in try ApproverPrivateKey(pem: TUFSigningKey(.ed25519).pem ?? "") }
        var generator = SystemRandomNumberGenerator()
        let members = try zip(Self.names, approvers).map { try ApproverSet.Member(name: $0, key: $1.key) }
        let genesis = try ApproverStatement(
            genesisOf: RandomID(using: &generator), approvers: ApproverSet(members, number: 2), recovery: nil)
        let secret = try await self.folder.create(
            genesis: SignedApprovers(
                text: genesis.bytes, signatures: try approvers.map { try $0.signature(of: genesis.bytes) }),
            secret: SecretFile(folder.appending(path: "secret")), clock: clock, using: &generator)
        let open = try await self.folder.open(clock: clock)
        let now = Int64(clock.now.timeIntervalSince1970)
        for begin in stride(from: 0, to: shape.apps, by: Self.appsAtOnce) {
            let plans = try (begin..<min(begin + Self.appsAtOnce, shape.apps)).map { app in
                try plan(app, shape, genesis, secret, now)
            }
            try await open.catalog.transact { step throws(ServerError) in
                for plan in plans { try plan.write(&step) }
            }
        }
        await open.engine.close()
    }

    /// Proposes changes of apps in spite of the gates, and lets approvers agree to them.
    /// - Returns: the changes.
    func approvedChanges(of apps: Range<Int>, clock: any WallClock) async throws -> [RandomID] {
        let open = try await folder.open(clock: clock)
        let now = Int64(clock.now.timeIntervalSince1970)
        var generator = SystemRandomNumberGenerator()
        var changes: [RandomID] = []
        for number in apps {
            guard let old = try await open.publisher.published(Self.name(number)) else { continue }
            let content = try Content(
                app: old.app, hosts: old.hosts, formats: old.formats, end: now + Self.life - 86_400)
            let change = try await open.publisher.propose(
                content, forcing: Set(Gate.allCases.filter(\.canBeForced)), proposer: nil, reason: "a benchmark",
                by: "operator", using: &generator
            ).change
            let subject = try await open.catalog.change(change).subject(for: open.catalog.approvers())
            let text = try ApprovalText(.approve, subject, end: now + 86_400).bytes
            for approver in approvers {
                try await open.catalog.add(SignedApproval(text: text, signature: approver.signature(of: text)))
            }
            changes.append(change)
        }
        await open.engine.close()
        return changes
    }

    /// The data to write for an app, made beforehand.
    private func plan(
        _ number: Int, _ shape: Shape, _ genesis: ApproverStatement, _ secret: SigningSecret, _ now: Int64
    ) throws -> Plan {
        let app = try Self.name(number)
        var generator = SystemRandomNumberGenerator()
        let formats =
            try [ContentFormat(.challenge, refresh: 3_600)]
            + (shape.list == nil ? [] : [ContentFormat(.list, refresh: 3_600)])
        let content = try Content(app: app, hosts: try shape.hosts(number), formats: formats, end: now + Self.life)
        let outlook = Array("{}".utf8)
        let subject = try ApprovalText.Subject(
            server: genesis.server, app: app, change: RandomID(using: &generator), baseGeneration: 0,
            content: content.digest, outlook: Digest(of: outlook), approvers: genesis.digest)
        let text = try ApprovalText(.approve, subject, end: now + 86_400).bytes
        let place = try SealedKey.Place(
            server: genesis.server, app: app, id: "key-\(number)", purpose: .fingerprints)
        let anchors = shape.anchors.isEmpty ? [try TestAuthority.root().root] : shape.anchors
        return Plan(
            app: app, settings: try AppSettings(anchors: anchors, builds: []),
            hosts: try shape.watched(number), content: content, outlook: outlook, subject: subject, approval: text,
            signatures: try approvers.map { try $0.signature(of: text) },
            key: try SealedKey(sealing: SigningKey().pem, at: place, with: secret), list: shape.list?(number))
    }
}

/// All data of one app.
private struct Plan: Sendable {
    let app: AppName
    let settings: AppSettings
    let hosts: [CatalogHost]
    let content: Content
    let outlook: [UInt8]
    let subject: ApprovalText.Subject
    let approval: [UInt8]
    let signatures: [ApproverSignature]
    let key: SealedKey
    let list: [UInt8]?

    func write(_ step: inout Catalog.Step) throws(ServerError) {
        try writeApp(&step)
        try writeChange(&step)
        try publish(&step)
    }

    private func writeApp(_ step: inout Catalog.Step) throws(ServerError) {
        let name = StorageValue.text("\(app)")
        try step.session.run(
            "INSERT INTO app (name, display_name, created_at) VALUES ($1, $2, $3)", [name, name, .integer(step.now)])
        try step.session.run(
            "INSERT INTO app_setting (app, octets) VALUES ($1, $2)", [name, .bytes(settings.bytes)])
        try step.set(app, Catalog.settingsName, settings.bytes, by: "operator")
        for host in hosts {
            try step.session.run(
                """
                INSERT INTO host (app, name, port, dial, renewal, next_poll_at) VALUES ($1, $2, $3, $4, $5, {now})
                """,
                [
                    name, .text(host.name), .integer(host.port), host.dial.map { .text($0) } ?? .null,
                    .text(host.renewal.rawValue),
                ])
            try step.set(app, Catalog.name(of: host), host.bytes, by: "operator")
        }
        try step.session.run(
            """
            INSERT INTO signing_key (id, app, purpose, public_key, secret_id, sealed, created_at) \
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            """,
            [
                .text(key.place.id), name, .text(key.place.purpose.rawValue), .bytes(key.publicKey),
                .bytes(key.secretID), .bytes(key.sealed), .integer(step.now),
            ])
        try step.record(
            .key, by: "operator",
            [
                "app": "\(app)", "id": key.place.id, "purpose": key.place.purpose.rawValue,
                "publicKey": "\(Digest(of: key.publicKey))",
            ])
    }

    private func writeChange(_ step: inout Catalog.Step) throws(ServerError) {
        try step.session.run(
            """
            INSERT INTO change (id, app, state, base_generation, content, outlook, forced, reason, created_at, ends_at) \
            VALUES ($1, $2, 'published', 0, $3, $4, '-', 'a benchmark', $5, $6)
            """,
            [
                .bytes(subject.change.bytes), .text("\(app)"), .bytes(content.bytes), .bytes(outlook),
                .integer(step.now), .integer(step.now + Change.span),
            ])
        try step.record(
            .proposed, by: "watcher",
            [
                "change": "\(subject.change)", "app": "\(app)", "content": "\(content.digest)",
                "outlook": "\(Digest(of: outlook))", "base": "0", "forced": "-", "reason": "a benchmark",
            ])
        for signature in signatures {
            try step.session.run(
                """
                INSERT INTO approval (change_id, identity, text, signature, created_at) VALUES ($1, $2, $3, $4, $5)
                """,
                [
                    .bytes(subject.change.bytes), .bytes(signature.identity.bytes), .bytes(approval),
                    .bytes(signature.signature), .integer(step.now),
                ])
            try step.record(
                .approved, by: "\(signature.identity)",
                ["change": "\(subject.change)", "app": "\(app)", "text": "\(Digest(of: approval))"])
        }
    }

    private func publish(_ step: inout Catalog.Step) throws(ServerError) {
        try step.record(
            .published, by: "\(signatures[0].identity)",
            [
                "app": "\(app)", "change": "\(subject.change)", "generation": "1", "content": "\(content.digest)",
                "approvers": "\(subject.approvers)", "forced": "-",
            ])
        if let list, let format = content.formats.first(where: { $0.kind == .list }) {
            for audience in ReleaseChannel.allCases {
                guard let path = content.path(of: .list, for: audience) else { continue }
                let made = SignedDocument(
                    kind: .list, path: path, mediaType: format.mediaType, bytes: list, refresh: format.refresh,
                    end: content.end)
                try Catalog.store(made, at: path, of: app, generation: 1, &step)
            }
        }
        try step.session.run(
            "UPDATE app SET generation = 1, change_id = $2 WHERE name = $1",
            [.text("\(app)"), .bytes(subject.change.bytes)])
    }
}
