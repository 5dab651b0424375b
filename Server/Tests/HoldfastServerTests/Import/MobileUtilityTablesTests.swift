import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerImport
@testable import ServerModel

@Suite("The tables of a mobile utility server")
struct MobileUtilityTablesTests {
    private static let now: Int64 = 1_795_000_000

    /// A server with two certificates.
    private func server() throws -> OldUtilityServer {
        var server = try OldUtilityServer.withVectorKey()
        let root = try TestAuthority.root(clock: ManualClock(now: Date(timeIntervalSince1970: Double(Self.now))))
        try server.add(root.leaf(names: [.dns(World.host)]))
        try server.add(root.leaf(names: [.dns(World.host)]), withPEM: false)
        return server
    }

    private func refusal(
        _ change: (inout OldUtilityServer) throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> ServerError? {
        var server = try server()
        try change(&server)
        let error = expectError(
            .invalidValue, { try server.takeover(at: Self.now) }, sourceLocation: sourceLocation)
        #expect(error?.description.contains(server.privateKey) == false, sourceLocation: sourceLocation)
        #expect(error?.remedy.isEmpty == false, sourceLocation: sourceLocation)
        return error
    }

    @Test("Apps and certificates come out as they were")
    func whole() throws {
        var server = try server()
        server.certificates.append(
            .init(fingerprint: Base64.encode([UInt8](repeating: 1, count: 32)), expires: Self.now - 1))
        let app = try #require(try server.takeover(at: Self.now).apps.first)
        #expect("\(app.name)" == "mobile" && app.displayName == server.displayName)
        #expect(app.keys.map(\.configured) == [server.publicKey] && app.keys.allSatisfy(\.wasInPlainText))
        let key = try SigningKey(pem: try #require(app.keys.first).pem)
        #expect(key.exportedPrivateKey == server.privateKey)
        let host = try #require(app.hosts.first)
        #expect(app.hosts.count == 1 && host.name == World.host && host.port == 443)
        #expect(
            Set(host.certificates.map { Base64.encode($0.fingerprint.bytes) })
                == Set(server.certificates.prefix(2).map(\.fingerprint)))
        #expect(host.certificates.map(\.expires) == server.certificates.prefix(2).map(\.expires))
        #expect(app.notes == ["1 certificates were left out, because they have expired"])
        #expect(app.formats.map(\.kind) == [.challenge])
    }

    @Test("Version 2.0 of the other server says at which depth a certificate is, and which domains need no pins")
    func secondVersion() throws {
        var server = try server()
        server.domains += ["img.example.com", "cdn.example.com"]
        server.bypassed = ["img.example.com", "cdn.example.com"]
        server.certificates[1].depth = 2
        // Of a domain that needs no pins some may be there.
        server.certificates.append(
            .init(domain: 3, fingerprint: Base64.encode([UInt8](repeating: 1, count: 32)), expires: Self.now + 9))
        let app = try #require(try server.takeover(at: Self.now).apps.first)
        #expect(app.hosts.map(\.name) == [World.host, "cdn.example.com"])
        #expect(Set(app.hosts[0].certificates.map(\.depth)) == [0, 2])
        let domains = try #require(app.domains)
        #expect(domains.unlistedNeedPins)
        #expect(
            domains.domains.map { "\($0.name) \($0.needsPins)" }
                == ["\(World.host) true", "cdn.example.com false", "img.example.com false"])
        #expect(try self.server().takeover(at: Self.now).apps.first?.domains == nil)
        let error = try refusal {
            $0.bypassed = []
            $0.certificates[0].depth = 17
        }
        #expect(error?.subject == "mus_certificate, line 2, field depth")
    }

    @Test("The number of a private key counts with a leading zero, and with 31, 32 and 33 bytes")
    func numbers() throws {
        let short: [UInt8] = [0x41] + [UInt8](repeating: 0x5A, count: 30)
        let high: [UInt8] = [0x91] + [UInt8](repeating: 0x5A, count: 31)
        let usual: [UInt8] = [0x41] + [UInt8](repeating: 0x5A, count: 31)
        for number in [short, [0] + short, [0, 0] + short, usual, [0] + usual, [0] + high] {
            var server = try server()
            server.privateKey = Base64.encode(number)
            let key = try SigningKey(exportedPrivateKey: server.privateKey)
            server.publicKey = try key.publicKey.base64
            let taken = try #require(try server.takeover(at: Self.now).apps.first?.keys.first)
            #expect(try SigningKey(pem: taken.pem).publicKey.base64 == server.publicKey, "\(number.count)")
        }
        for number in [[UInt8](repeating: 0, count: 32), [0, 0] + usual, [1] + usual] {
            let error = try refusal { $0.privateKey = Base64.encode(number) }
            #expect(error?.subject == "mus_mobile_app, line 2, field sign_private_key", "\(number.count)")
        }
    }

    @Test("A private key that does not give the public key beside it is refused")
    func foreignKey() throws {
        let error = try refusal { $0.publicKey = try SigningKey().publicKey.base64 }
        #expect(error?.subject == "mus_mobile_app, line 2, field sign_public_key")
        #expect(error?.expected == "the public key of the private key beside it")
    }

    @Test("Unknown and encrypted columns are refused by their names, and so are tables that are missing or too much")
    func columns() throws {
        let server = try server()
        func read(_ text: String) throws -> MobileUtilityTables { try MobileUtilityTables(stream: Array(text.utf8)) }
        let text = String(decoding: server.stream, as: UTF8.self)
        let unknown = expectError(
            .invalidValue, { try read(text.replacing("sign_public_key\n", with: "sign_public_key,tenant\n")) })
        #expect(unknown?.subject == "mus_mobile_app, line 1, field tenant")
        let encrypted = expectError(
            .invalidValue,
            { try read(text.replacing("sign_public_key\n", with: "sign_public_key,key_Encryption_mode\n")) })
        #expect(encrypted?.subject == "mus_mobile_app, line 1, field key_Encryption_mode")
        #expect(encrypted?.expected.contains("has not encrypted") == true)
        let missing = expectError(.invalidValue, { try read(text.replacing("id,app_id,domain", with: "id,app_id")) })
        #expect(missing?.subject?.hasSuffix("field domain") == true)
        let twice = expectError(.invalidValue, { try read(text.replacing("id,app_id,domain", with: "id,id,domain")) })
        #expect(twice?.subject?.hasSuffix("field id") == true)
        #expect(
            expectError(.malformed, { try read(text.replacing("mus_certificate\n", with: "mus_user\n")) })?.expected
                == "3 fields")
        #expect(
            expectError(.malformed, { try read("mus_user\n" + text) })?.subject == "the export, line 1")
        #expect(
            expectError(.malformed, { try read(text + "mus_mobile_domain\nid,app_id,domain\n") })?.expected
                == "the table once")
        let last = try #require(text.firstRange(of: "mus_certificate"))
        #expect(
            expectError(.malformed, { try read(String(text[..<last.lowerBound])) })?.found
                == "none called mus_certificate")
    }

    @Test("Each field that cannot be right is named, with its line")
    func fields() throws {
        for (place, change) in [
            ("mus_mobile_app, line 2, field name", { $0.name = "a b" }),
            ("mus_mobile_domain, line 2, field domain", { $0.domains = ["API.example.com"] }),
            ("mus_mobile_domain, line 3, field domain", { $0.domains += $0.domains }),
            ("mus_mobile_domain, line 2, field domain", { $0.domains = ["*.com"] }),
            ("mus_certificate, line 2, field fingerprint", { $0.certificates[0].fingerprint = "AAAA" }),
            (
                "mus_certificate, line 2, field fingerprint",
                {
                    $0.certificates.swapAt(0, 1); $0.certificates[0].pem = $0.certificates[1].pem
                }
            ),
            ("mus_certificate, line 2, field expires", { $0.certificates[0].expires = -1 }),
            ("mus_certificate, line 2, field mobile_domain_id", { $0.certificates[0].domain = 9 }),
            ("mus_certificate, line 2, field pem", { $0.certificates[0].pem = "no certificate" }),
        ] as [(String, (inout OldUtilityServer) -> Void)] {
            #expect(try refusal(change)?.subject == place)
        }
    }

    @Test("No error about a damaged export shows a private key, and what is read has one whose public key is beside it")
    func damaged() throws {
        let server = try server()
        let part = String(server.privateKey.prefix(12))
        let stream = server.stream
        let end = try #require(stream.firstRange(of: Array("mus_mobile_domain\n".utf8)))
        // Most of the damage is where it matters.
        let seeds = [stream, Array(stream[..<end.lowerBound])]
        var generator = SeededGenerator(seed: 0x3005)
        var read = 0
        defer { noteCampaign(of: mutants(inPartsOf: 5)) }
        for number in 0..<mutants(inPartsOf: 5) {
            var mutant = mutated(seeds[number % 2], &generator)
            if number % 2 == 1 { mutant += stream[end.lowerBound...] }
            do throws(ServerError) {
                let takeover = try MobileUtilityTables(stream: mutant).takeover(at: Self.now, refresh: 3_600)
                for key in takeover.apps.flatMap(\.keys) {
                    let own = try? SigningKey(pem: key.pem).publicKey.base64
                    #expect(own == key.configured)
                    #expect(!"\(key)".contains("PRIVATE"))
                }
                read += 1
            } catch {
                #expect(!"\(error)".contains(part), "\(error.code)")
            }
        }
        #expect(read > 0)
    }

    @Test("Files that others may read, links and files of other tables are refused, and nothing is read from a pipe")
    func files() async throws {
        let server = try server()
        try await withFolder { folder in
            let export = folder.appending(path: "export")
            try server.write(to: export)
            #expect(try MobileUtilityTables(folder: export).takeover(at: Self.now, refresh: 60).apps.count == 1)
            let file = export.appending(path: "mus_mobile_app.csv")
            for mode in [0o640, 0o604, 0o666, 0o700] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
                let error = expectError(.file, { try MobileUtilityTables(folder: export) })
                #expect(error?.expected == "mode 0600" && error?.remedy.contains("chmod 600") == true)
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: file.path)
            _ = try MobileUtilityTables(folder: export)
            let moved = folder.appending(path: "elsewhere.csv")
            try FileManager.default.moveItem(at: file, to: moved)
            try FileManager.default.createSymbolicLink(at: file, withDestinationURL: moved)
            #expect(expectError(.file, { try MobileUtilityTables(folder: export) })?.found == "a symbolic link")
            try FileManager.default.removeItem(at: file)
            #expect(unsafe mkfifo(file.path, 0o600) == 0)
            #expect(expectError(.file, { try MobileUtilityTables(folder: export) })?.expected == "a regular file")
            try FileManager.default.removeItem(at: file)
            #expect(
                expectError(.malformed, { try MobileUtilityTables(folder: export) })?.found
                    == "none called mus_mobile_app")
            for (name, words) in [("mus_user", "token add"), ("mus_mobile_app_version", "rules for versions")] {
                let stranger = export.appending(path: "\(name).csv")
                try Data("id\n".utf8).write(to: stranger)
                let error = expectError(.invalidValue, { try MobileUtilityTables(folder: export) })
                #expect(error?.found == "\(name).csv" && error?.remedy.contains(words) == true)
                try FileManager.default.removeItem(at: stranger)
            }
        }
    }
}
