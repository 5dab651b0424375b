import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// An attacker who can write to the database of several running machines, and wants their own certificate to be pinned.
/// One of two required approvers was fooled.
struct ReplicaAttack {
    /// A column of a table, and what is to be written there.
    struct Write: CustomStringConvertible {
        let table: String
        let column: String
        let value: StorageValue
        /// The row, as PostgreSQL calls it.
        let row: String

        var description: String { "\(table).\(column)" }
    }

    private let replicated: ReplicaSite
    private let malicious: TestCertificate
    private let connection: PostgreSQLConnection
    /// The change that only the attacker wants.
    let wanted: RandomID

    init(_ replicated: ReplicaSite, _ database: PostgreSQLAddress) async throws {
        self.replicated = replicated
        let site = replicated.site
        malicious = try site.root.leaf(names: [.dns(World.host)])
        // A pin file needs keys.
        let formats = World.formats.filter { $0.kind != .pinFile }
        let content = try await site.open.catalog.draft(of: site.app, Catalog.DraftOptions(formats: formats))
        let bad = try Content(
            app: site.app,
            hosts: [
                ContentHost(
                    name: World.host,
                    certificates: [.init(fingerprint: Digest(of: malicious.der), expires: content.end)])
            ], formats: content.formats, end: content.end)
        var generator = SystemRandomNumberGenerator()
        wanted = try await site.open.publisher.propose(
            bad, forcing: [.lint, .replay, .outlook, .canary], proposer: nil, reason: "a test", by: "mallory",
            using: &generator
        ).change
        let subject = try await site.open.catalog.change(wanted).subject(for: site.open.catalog.approvers())
        try await site.open.catalog.add(try Approver.alice.says(.approve, subject, until: site.now + 86_400))
        connection = try PostgreSQLConnection(database, limits: .usual, clock: nil)
    }

    /// Nothing that the database would refuse is refused anymore.
    func dropConstraints() throws {
        for row in try connection.run(
            text: """
                SELECT conrelid::regclass::text, quote_ident(conname) FROM pg_constraint JOIN pg_namespace n \
                ON n.oid = connamespace WHERE contype IN ('c', 'f') AND n.nspname = 'public' ORDER BY contype DESC
                """)
        {
            try connection.execute("ALTER TABLE \(try row.text(0)) DROP CONSTRAINT \(try row.text(1))")
        }
        for row in try connection.run(
            text: """
                SELECT quote_ident(table_name), quote_ident(column_name) FROM information_schema.columns c \
                WHERE table_schema = 'public' AND is_nullable = 'NO' AND NOT EXISTS (SELECT 1 FROM \
                information_schema.key_column_usage k WHERE k.table_name = c.table_name AND k.column_name = c.column_name)
                """)
        { try connection.execute("ALTER TABLE \(try row.text(0)) ALTER COLUMN \(try row.text(1)) DROP NOT NULL") }
    }

    /// The possible writes: for each column of each table, another value, and if rows differ, the value of another row.
    func writes() throws -> [Write] {
        var writes: [Write] = []
        for row in try connection.run(
            text: """
                SELECT table_name::text, column_name::text FROM information_schema.columns \
                WHERE table_schema = 'public' AND table_name NOT LIKE 'look%' ORDER BY table_name, ordinal_position
                """)
        {
            let (table, column) = (try row.text(0), try row.text(1))
            let rows = try connection.run(text: "SELECT ctid::text, \"\(column)\" FROM \(table) LIMIT 2")
            for found in rows {
                let swapped = rows.map { $0[1] }.first { $0 != found[1] }
                for value in [swapped, Self.other(than: found[1])].compactMap(\.self) {
                    writes.append(Write(table: table, column: column, value: value, row: try found.text(0)))
                }
            }
        }
        return writes
    }

    private static func other(than value: StorageValue) -> StorageValue {
        switch value {
        case .integer(let number): .integer(number == .max ? 0 : number + 1)
        case .text(let text): .text("\(text)x")
        case .bytes(let bytes): .bytes(bytes.isEmpty ? [1] : [bytes[0] ^ 1] + bytes.dropFirst())
        case .null: .integer(1)
        }
    }

    /// Writes it, does something, and puts it back as it was, unless a machine has written that row meanwhile.
    /// - Returns: whether the database took it.
    func with(_ write: Write, _ body: () async throws -> Void) async throws -> Bool {
        let place = "UPDATE \(write.table) SET \"\(write.column)\" = $1 WHERE ctid = "
        let found = try connection.run(
            text: "SELECT \"\(write.column)\" FROM \(write.table) WHERE ctid = '\(write.row)'")
        guard let old = found.first?[0],
            let row = try? connection.run(text: "\(place)'\(write.row)' RETURNING ctid::text", [write.value]).first
        else { return false }
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        try connection.run(text: "\(place)'\(try row.text(0))'", [old])
        try result.get()
        return true
    }

    /// Runs statements.
    func run(_ sql: String, _ values: [StorageValue] = []) throws { try connection.run(text: sql, values) }

    /// Has a machine publish what was not approved.
    func publish(on replica: Replica, _ comment: String) async throws {
        let (status, output) = try await replica.command("publish", "\(wanted)")
        #expect(status != 0 && !output.contains("published: generation"), "\(comment): \(output)")
    }

    /// Expects that nothing which any machine serves, answers or keeps names the attacker's certificate.
    func expectClean(_ comment: String) async throws {
        let found = try await machinesThatNameIt()
        #expect(found == [], "\(comment)")
    }

    private func machinesThatNameIt() async throws -> [Int] {
        var found: [Int] = []
        let digest = Digest(of: malicious.der)
        let key = Digest(of: try malicious.subjectPublicKeyInfo)
        let needles = [
            Base64.encode(digest.bytes), "\(digest)", Base64.encode(key.bytes),
            Base64.encode(try malicious.subjectPublicKeyInfo),
        ]
        for replica in replicated.replicas {
            var texts: [String] = []
            for path in replica.server.publicFolder.paths() {
                texts.append(String(decoding: try replica.server.publicFolder.read(path) ?? [], as: UTF8.self))
            }
            if replica.running != nil {
                for path in ReplicaWitness.paths { texts.append(try await replica.answer("/\(path)").body) }
                texts.append(
                    try await replica.answer(
                        "/app/init?appName=bank", ["X-Cert-Pinning-Challenge: AAECAwQFBgcICQoLDA0ODw=="]
                    ).body)
            }
            #expect(texts.contains { $0.contains("fingerprint") }, "nothing is there")
            // The document of a trust server is Base64 or DER.
            texts += texts.compactMap { Data(base64Encoded: $0, options: .ignoreUnknownCharacters) }
                .map { String(decoding: $0, as: UTF8.self) }
            if texts.contains(where: { text in needles.contains { text.contains($0) } }) {
                found.append(replica.number)
            }
        }
        return found
    }

    /// Expects that it would be found: two people agree, and a machine publishes it.
    func expectControl() async throws {
        let site = replicated.site
        let subject = try await site.open.catalog.change(wanted).subject(for: site.open.catalog.approvers())
        try await site.open.catalog.add(try Approver.bob.says(.approve, subject, until: site.now + 86_400))
        try await replicated.publish(wanted, on: replicated.replicas[0])
        try await replicated.follow()
        #expect(try await machinesThatNameIt() == replicated.replicas.map(\.number))
    }
}
