import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import PublicAPI
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore

/// A world with a published change, and one that only an attacker wants, who can write to the database.
struct AttackStage: Sendable {
    /// The state of the server when the attacker writes into the database.
    enum Situation: CaseIterable {
        case nothing, openCanary, replacedApprovers, withdrawnDocument, limitedApprovers, programs

        /// The tables that have to do with it; nil for all.
        var tables: Set<String>? {
            switch self {
            case .nothing: nil
            case .programs: ["app", "audit", "delivered", "document", "place", "signing_key"]
            default: ["app", "approval", "approver", "audit", "change", "delivered", "document", "signing_key"]
            }
        }
    }

    let world: World
    let published: RandomID
    let wanted: RandomID
    let malicious: TestCertificate
    /// A path at which nothing is published anymore.
    let withdrawn: String?
    /// A signer program and an upload program, and those that the attacker would rather have run.
    let programs: AttackPrograms?

    init(_ world: World, _ situation: Situation = .nothing) async throws {
        self.world = world
        programs = situation == .programs ? try await AttackPrograms(world) : nil
        // Two formats, one of which is signed again in each round: an outlook of all takes a second.
        let formats = World.formats.filter { $0.kind == .list || $0.kind == .trustServer }
        let first = try await world.publish(world.draft { $0.formats = formats }, forcing: [.canary])
        if situation == .nothing { try await Self.fill(world) }
        withdrawn = situation == .withdrawnDocument ? "lists/bank.json" : nil
        switch situation {
        case .nothing, .limitedApprovers, .programs: published = first
        case .openCanary, .replacedApprovers:
            published = try await world.approved(formats).change
            guard case .canary = try await world.publisher.publish(published).stage else {
                throw CancellationError()
            }
        case .withdrawnDocument:
            let rest = formats.filter { $0.kind != .list }
            published = try await world.publish(world.draft { $0.formats = rest }, forcing: [.lint, .canary])
            #expect(world.publisher.live.current.document(at: "lists/bank.json".utf8) == nil)
        }
        malicious = try world.root.leaf(names: [.dns(World.host)])
        let content = try await world.draft { $0.formats = formats }
        let bad = try Content(
            app: world.app,
            hosts: [
                ContentHost(
                    name: World.host,
                    certificates: [.init(fingerprint: Digest(of: malicious.der), expires: content.end)])
            ], formats: content.formats, end: content.end)
        // Any proposer can store it; one of the two required approvers was fooled.
        wanted = try await world.propose(bad, forcing: [.lint, .replay, .outlook, .canary]).change
        if situation == .replacedApprovers {
            // Two were fooled, and their approvals ended before it was published.
            try await world.approve(wanted, by: [.alice, .carol])
            let next = try ApproverStatement(
                after: try await world.catalog.approvers().head,
                approvers: ApproverSet(
                    try [.alice, .bob, .dave].map { (it: Approver) in try it.member }, number: 2))
            try await world.catalog.append([Approver.alice, .bob, .dave].sign(next))
        }
        if situation == .limitedApprovers {
            let next = try ApproverStatement(
                after: try await world.catalog.approvers().head,
                approvers: ApproverSet(
                    [Approver.alice.member, Approver.bob.member, Approver.carol.limited(to: "shop")], number: 2))
            try await world.catalog.append([Approver.alice, .bob].sign(next))
            // The approver of another app was fooled as well.
            let subject = try await world.catalog.change(wanted).subject(for: try await world.catalog.approvers())
            let word = try Approver.carol.says(.approve, subject, until: world.now + 86_400)
            try await PasskeyDesk(world: world).write(
                """
                INSERT INTO approval (change_id, identity, text, signature, created_at) VALUES ($1, $2, $3, $4, $5)
                """,
                [
                    .bytes(wanted.bytes), .bytes(word.signature.identity.bytes), .bytes(word.text),
                    .bytes(word.signature.signature), .integer(world.now),
                ])
        }
        try await world.approve(wanted, by: [.alice])
    }

    /// Has rows in tables that a first publication leaves empty.
    private static func fill(_ world: World) async throws {
        _ = try await world.token("ci", .propose)
        let spare = try world.root.leaf(names: [.dns(World.host)])
        try await world.catalog.announce(
            key: spare.subjectPublicKeyInfo, on: world.catalogHost, of: world.app, by: "owner")
    }

    /// Whether nothing that was signed, served or uploaded names the attacker's certificate, nothing that is no longer
    /// published is back, and no program of the attacker's ran.
    func isClean(_ live: PublishedSnapshot, _ folder: URL) throws -> Bool {
        let digest = Digest(of: malicious.der)
        let key = Digest(of: try malicious.subjectPublicKeyInfo)
        let needles = [
            Base64.encode(digest.bytes), "\(digest)", Base64.encode(key.bytes),
            Base64.encode(try malicious.subjectPublicKeyInfo),
        ]
        var texts = live.documents.values.map(\.bytes)
        for folder in [folder] + [programs?.bucket].compactMap(\.self) {
            for case let file as URL in FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
                ?? .init()
            where !file.hasDirectoryPath {
                texts.append(Array(try Data(contentsOf: file)))
            }
        }
        let entries = live.apps.values.flatMap(\.entries).map(\.fingerprint)
        if let withdrawn {
            let file = folder.appending(path: withdrawn).path
            guard live.document(at: withdrawn.utf8) == nil, !FileManager.default.fileExists(atPath: file) else {
                return false
            }
        }
        return !texts.contains { text in needles.contains { Data(text).range(of: Data($0.utf8)) != nil } }
            && !entries.contains(needles[0]) && !(programs?.ranAttackers ?? false)
    }

    /// A copy of the server's folder, with a server that runs on it.
    struct Copy {
        let folder: URL
        let engine: SQLiteEngine
        let publisher: Publisher

        init(of stage: AttackStage, _ name: String) async throws {
            (folder, engine) = try stage.world.copy(name)
            publisher = try await Self.publisher(engine, folder, stage)
            try await publisher.follow()
        }

        static func publisher(_ engine: SQLiteEngine, _ folder: URL, _ stage: AttackStage) async throws -> Publisher {
            try await stage.world.publisher(
                on: engine, in: folder, reader: stage.programs.map { FolderProvider(folder: $0.bucket) })
        }

        /// Everything that a server does, and the attacker's change.
        func work(_ publisher: Publisher, _ stage: AttackStage) async {
            _ = try? await publisher.publish(stage.wanted)
            _ = try? await publisher.publish(stage.published)
            _ = try? await publisher.renew()
            _ = try? await publisher.follow()
            _ = try? await publisher.deliverToPlaces()
        }

        /// Runs the server as it was and once more from the beginning, and says whether all that it signed was approved.
        func staysClean(_ stage: AttackStage) async throws -> Bool {
            await work(publisher, stage)
            var isClean = try stage.isClean(publisher.live.current, folder.appending(path: "public"))
            if let again = try? await Self.publisher(engine, folder, stage) {
                await work(again, stage)
                isClean =
                    try isClean
                    && stage.isClean(again.live.current, folder.appending(path: "public"))
            }
            return isClean
        }
    }
}
