import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Synchronization
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerImport
@testable import ServerModel

/// `docs/server/operating.md` from the export of a real PostgreSQL to the old signer's end, word by word.
@Suite("Taking over, as the README of the server has it", .timeLimit(.minutes(10)))
struct TakingOverProcedureTests {
    private typealias Desk = CommandTests.Desk

    private static let schema = """
        CREATE TABLE mus_mobile_app (id bigint PRIMARY KEY, name varchar(255) NOT NULL UNIQUE,
          display_name varchar(255) NOT NULL, sign_private_key varchar(255) NOT NULL,
          sign_public_key varchar(255) NOT NULL);
        CREATE TABLE mus_mobile_domain (id bigint PRIMARY KEY, app_id bigint NOT NULL REFERENCES mus_mobile_app,
          domain varchar(255) NOT NULL);
        CREATE TABLE mus_certificate (id bigint PRIMARY KEY, fingerprint varchar(255) NOT NULL, expires bigint NOT NULL,
          mobile_domain_id bigint NOT NULL REFERENCES mus_mobile_domain, pem text);
        CREATE TABLE mus_mobile_app_version (id bigint PRIMARY KEY, app_id bigint NOT NULL REFERENCES mus_mobile_app,
          platform varchar(10) NOT NULL, major_os_version integer, suggested_version varchar(24),
          required_version varchar(24), message_key varchar(255));
        CREATE TABLE mus_localized_text (message_key varchar(255) NOT NULL, language varchar(8) NOT NULL,
          text text NOT NULL, PRIMARY KEY (message_key, language));
        CREATE TABLE mus_user (id bigint PRIMARY KEY, username varchar(255), password varchar(255), enabled boolean);
        """

    /// Everything that PostgreSQL has to quote, and what it writes bare.
    private static let texts = [
        "plain", "a, b", "she said \"no\"", "\"", "two\nlines", "two\r\nlines", "\\.", " spaces ", "NULL",
        "\u{FC}\u{1F600}",
        "tab\there", "mus_certificate",
    ]

    private func literal(_ text: String?) -> String { text.map { "$holdfast$\($0)$holdfast$" } ?? "NULL" }

    /// The rows of a server, as SQL.
    private func rows(of old: OldUtilityServer) -> String {
        var sql = """
            INSERT INTO mus_mobile_app VALUES (7, \(literal(old.name)), \(literal(old.displayName)), \
            \(literal(old.privateKey)), \(literal(old.publicKey)));
            INSERT INTO mus_mobile_domain VALUES (1, 7, \(literal(World.host)));
            INSERT INTO mus_mobile_app_version VALUES (1, 7, 'IOS', 15, '3.0.0', NULL, NULL);
            INSERT INTO mus_user VALUES (1, 'admin', 'bcrypt', true);

            """
        for (index, row) in old.certificates.enumerated() {
            sql +=
                "INSERT INTO mus_certificate VALUES (\(index + 1), '\(row.fingerprint)', \(row.expires), 1, \(literal(row.pem)));\n"
        }
        return sql
    }

    /// The blocks of the procedure, in their order.
    private func blocks() throws -> [Manual.Block] {
        try Manual("docs/server/operating.md").blocks.filter { $0.mark == "taking over" }
    }

    private func oldServer(_ desk: Desk) throws -> OldUtilityServer {
        var old = try OldUtilityServer(SigningKey())
        old.name = "bank"
        try old.add(desk.shown)
        try old.add(desk.next, withPEM: false)
        return old
    }

    @Test(
        "What the documented lines export of a real PostgreSQL is read as it was stored",
        .needs(.postgreSQL))
    func export() async throws {
        let script = try #require(try blocks().first { $0.language == "sql" }).text
        try await PostgresServer.run { postgres in
            try await withFolder { folder in
                let desk = try Desk(in: folder)
                let old = try oldServer(desk)
                try await postgres.run("CREATE DATABASE mus;")
                let others = Self.texts.enumerated().map { index, text in
                    "INSERT INTO mus_mobile_app VALUES (\(100 + index), 'text-\(index)', \(literal(text)), "
                        + "\(literal(old.privateKey)), \(literal(old.publicKey)));\n"
                }
                try await postgres.run(Self.schema + rows(of: old) + others.joined(), in: "mus")
                let stream = try await postgres.run(script, in: "mus")
                let tables = try MobileUtilityTables(stream: Array(stream.utf8))
                let texts = try tables.rows(.app).map { try $0.text("display_name", 1...255) }
                #expect(texts == [old.displayName] + Self.texts)
                let now = Int64(desk.clock.now.timeIntervalSince1970)
                let app = try #require(try tables.takeover(at: now, refresh: 60).apps.first)
                #expect(app.keys.map(\.configured) == [old.publicKey] && app.displayName == old.displayName)
                #expect(app.hosts.first?.certificates.count == 2)
                // A column that a later version of the old server has.
                try await postgres.run(
                    "ALTER TABLE mus_mobile_app ADD sign_private_key_encryption varchar(32);", in: "mus")
                let newer = try await postgres.run(script, in: "mus")
                let error = expectError(.invalidValue, { try MobileUtilityTables(stream: Array(newer.utf8)) })
                #expect(error?.subject == "mus_mobile_app, line 1, field sign_private_key_encryption")
            }
        }
    }

    /// The commands of an operator, with a stand-in for the service manager of the old server's machine.
    private struct Operator {
        let desk: Desk
        let environment: [String: String]

        init(_ desk: Desk, _ postgres: PostgresServer) async throws {
            self.desk = desk
            let programs = desk.folder.appending(path: "bin")
            try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                at: programs.appending(path: "holdfast-server"), withDestinationURL: ServerProgram.url)
            let manager = programs.appending(path: "systemctl")
            try await ExecutableScript.write("#!/bin/sh\necho \"$@\" >stopped\n", to: manager)
            let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
            environment = postgres.environment.merging(["PATH": "\(programs.path):\(path)"]) { $1 }
        }

        func run(_ block: String, change: String = "") async throws -> String {
            let text = block.replacing("/srv/pins", with: desk.data).replacing("CHANGE", with: change)
            let (status, output) = try await ForeignProgram.run(
                ForeignProgram.required("bash"), ["-euo", "pipefail", "-c", text], in: desk.folder, withErrors: true,
                environment: environment)
            let words = String(decoding: output, as: UTF8.self)
            #expect(status == 0, "\(text): \(words)")
            return words
        }
    }

    @Test(
        "From the old server's tables to a new server, with the old signer stopped and the export gone",
        .needs(.postgreSQL))
    func procedure() async throws {
        let blocks = try blocks()
        #expect(blocks.map(\.language) == ["sql", "sh", "sh", "sh", "sh"])
        try await PostgresServer.run { postgres in
            try await withFolder { folder in
                let desk = try Desk(in: folder)
                try await desk.makeEmptyServer()
                let old = try oldServer(desk)
                try await postgres.run("CREATE DATABASE mus;")
                try await postgres.run(Self.schema + rows(of: old), in: "mus")
                try Data(blocks[0].text.utf8).write(to: folder.appending(path: "export.sql"))
                let operation = try await Operator(desk, postgres)
                var said: [String] = []

                said.append(try await operation.run(blocks[1].text))
                #expect(said[0].contains("clients have \(old.publicKey) (fingerprints)"))
                #expect(said[0].contains("nothing was written"))
                #expect(try await desk.run("app", "list", "--data", desk.data) == "")
                said.append(try await operation.run(blocks[2].text))
                let first = try change(in: said[1])
                try await desk.watch()
                // No name leads to the host here.
                let again = blocks[3].text.split(separator: "\n").dropFirst().joined(separator: "\n")
                #expect(blocks[3].text.contains("host see bank"))
                said.append(try await operation.run(again, change: first))
                let second = try change(in: said[2])
                #expect(!said[2].contains("refused"), "\(said[2])")
                for name in ["alice", "bob"] {
                    _ = try await desk.run("approve", second, "--data", desk.data, "--key", "\(name).pem", "--yes")
                }
                _ = try await desk.run("publish", second, "--data", desk.data)
                try await desk.everybodyFollows()

                said.append(try await operation.run(blocks[4].text))
                #expect(said[3].contains("was in plain text before it came here"))
                let stopped = try String(contentsOf: folder.appending(path: "stopped"), encoding: .utf8)
                #expect(stopped == "disable --now mobile-utility-server\n")
                #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "export").path))
                // Neither on a screen nor in a file is the key left.
                #expect(said.allSatisfy { !$0.contains(old.privateKey) })
                for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
                    let content = try? Data(contentsOf: folder.appending(path: name))
                    #expect(content?.firstRange(of: Data(old.privateKey.utf8)) == nil, "\(name)")
                }
                try await letsIn(old, desk)
            }
        }
    }

    private func change(in output: String) throws -> String {
        let line = try #require(output.split(separator: "\n").first { $0.hasPrefix("change ") }, "\(output)")
        return String(line.dropFirst("change ".count))
    }

    /// An app that was built for the old server, against the new one.
    private func letsIn(_ old: OldUtilityServer, _ desk: Desk) async throws {
        let server = try ServingProcess([
            ServerProgram.url.path, "serve", "--data", desk.data, "--listen", "127.0.0.1:0", "--admin-listen",
            "127.0.0.1:0", "--no-watch",
        ])
        try await server.says("listening for apps on")
        let store = try CertStore(
            checking: CertStoreConfiguration(
                serviceURL: try #require(URL(string: "http://127.0.0.1:\(server.port)/app/init?appName=bank")),
                publicKey: old.publicKey, useChallenge: true),
            secureDataStore: InMemoryDataStore(),
            remoteDataProvider: URLSessionDataProvider(allowsPlainHTTPToLoopback: true),
            logger: AdministrationSite.quiet)
        let update = try await store.update(mode: .forced)
        #expect(update.error == nil, "\(update)")
        for certificate in [desk.shown, desk.next] {
            let trust = ServerTrust(
                chain: PresentedChain(certificate.chain),
                purpose: .server(identity: try DialedHost(World.host, port: 443)),
                validator: PathValidator(anchors: try TrustAnchors(der: [desk.authority.root])))
            #expect(try store.policy(for: World.host).evaluate(trust, at: desk.clock.now).isTrusted)
        }
        #expect(await server.stop() == 0)
    }
}
