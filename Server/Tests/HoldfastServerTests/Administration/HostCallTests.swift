import Foundation
import Testing

@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("Hosts over HTTP", .timeLimit(.minutes(5)))
struct HostCallTests {
    private static let host = "/v1/apps/bank/hosts/img.example.com"

    @Test("A host is added and changed as a whole, what is wrong changes nothing, and the audit says who did it")
    func set() async throws {
        try await AdministrationSite.run { site in
            let (catalog, app) = (site.world.catalog, site.world.app)
            try await site.refuses(404, .notFound, "GET", Self.host, token: "read", field: "host")
            let added = try await site.call(
                "PUT", "\(Self.host)?port=8443", body: #"{"dial":"192.0.2.7","renewal":"same-key","oneKeyKind":true}"#)
            #expect(added.status == 200 && added.json["oneKeyKind"] as? Bool == true, "\(added.text)")
            #expect(added.json["dial"] as? String == "192.0.2.7" && added.json["port"] as? Int == 8_443)
            let known = try await catalog.host("img.example.com", 8_443, of: app)
            #expect(known.hasOneKeyKind && known.renewal == .sameKey && known.dial == "192.0.2.7")
            let read = try await site.call("GET", "\(Self.host)?port=8443", token: "read")
            #expect(read.status == 200 && read.body == added.body)

            let before = catalog.ledger.chain.head
            for (body, field) in [
                (#"{"renewal":"never"}"#, "renewal"), (#"{"oneKeyKind":1}"#, "oneKeyKind"), (#"{"dial":""}"#, "dial"),
                (#"{"dial":"192.0.2.7","port":443}"#, "port"),
            ] {
                let answer = try await site.call("PUT", "\(Self.host)?port=8443", body: body)
                #expect(answer.status == 422 && answer.json["field"] as? String == field, "\(body): \(answer.text)")
            }
            try await site.refuses(403, .forbidden, "PUT", Self.host, token: "propose", body: "{}")
            #expect(catalog.ledger.chain.head == before)

            // Missing fields get the values of a new host.
            let changed = try await site.call("PUT", "\(Self.host)?port=8443", body: "{}")
            #expect(changed.json["oneKeyKind"] as? Bool == false && changed.json["dial"] == nil, "\(changed.text)")
            #expect(changed.json["renewal"] as? String == "announced")
            #expect(try await !catalog.host("img.example.com", 8_443, of: app).hasOneKeyKind)
            let audit = try await site.call("GET", "/v1/audit", token: "every").body
            #expect(
                audit.contains(#""name":"host img.example.com:8443""#) && audit.contains(#""actor":"token administer""#)
            )
        }
    }

    @Test("Whoever can write to the database does not decide how a host is asked")
    func attacked() async throws {
        try await World.run { world in
            try await world.catalog.set(
                CatalogHost(name: World.host, hasOneKeyKind: true), of: world.app, by: "operator")
            let connection = try SQLiteConnection(world.folder.appending(path: "server.db").path, clock: world.clock)
            _ = try connection.run(text: "UPDATE host SET one_key_kind = 0")
            await expectError(.brokenChain) { try await world.catalog.hosts(of: world.app) }
        }
    }
}
