import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerImport
@testable import ServerModel

/// Damaged files of other servers and people, as `import` reads them; and the files of a listener. Tables have
/// campaigns of their own.
@Suite("Files of others, damaged", .timeLimit(.minutes(60)))
struct TakeoverMutationTests {
    @Test("A damaged signed list is taken over as its key signed it, or not at all")
    func lists() throws {
        let key = SigningKey()
        let entry = try ServingSite.entry()
        let list = Array(try PinListDraft([entry]).signed(by: key))
        let now = ServingSite.now
        func taken(_ list: [UInt8]) throws -> Takeover {
            try Takeover(list: list, key: key.pem, password: nil, as: AppName("bank"), at: now, refresh: 3_600)
        }
        #expect(try taken(list).apps.flatMap(\.hosts).count == 1)
        let read = campaign(0x1157, [list], count: mutants(inPartsOf: 10)) { mutant in
            let takeover = try taken(mutant)
            let hosts = takeover.apps.flatMap(\.hosts)
            #expect(hosts.allSatisfy { $0.name == entry.name })
            #expect(hosts.flatMap(\.certificates).allSatisfy { $0.fingerprint.bytes == Array(entry.pin.digest) })
        }
        #expect(read < mutants(inPartsOf: 10))
    }

    @Test("A damaged pin file is taken over as it says, or refused")
    func pins() throws {
        let pins = [UInt8](1...2).map { "sha256/\(Base64.encode(Digest(of: [$0]).bytes))" }
        let file =
            #"{"schema":1,"app":"com.example.bank","hosts":[{"host":"\#(World.host)","ports":[443,8443],"pins":["#
            + #"{"pin":"\#(pins[0])","role":"leaf","state":"active"},{"pin":"\#(pins[1])","role":"issuer"}]}]}"#
        let read = campaign(0x91F5, [Array(file.utf8)], count: mutants(inPartsOf: 10)) { mutant in
            let takeover = try Takeover(pins: mutant, as: AppName("bank"), refresh: 3_600)
            let hosts = takeover.apps.flatMap(\.hosts)
            // An byte that is doubled may be a port more.
            #expect(hosts.count <= 8 && hosts.allSatisfy { ContentHost.isName($0.name.utf8) && $0.keys.count <= 2 })
        }
        #expect(read > 0)
    }

    @Test("A damaged document of a trust server is taken over as its key signed it, or not at all")
    func trustServers() async throws {
        try await withFolder { folder in
            let time = Date(timeIntervalSince1970: 1_795_694_400)
            let key = try TrustServerKey(customer: "old", kind: .p256, at: time)
            let leaf = try TestAuthority.root().leaf(names: [.dns(World.host)])
            try OldTrustServer.write(key, [leaf], in: folder, at: time)
            let file = folder.appending(path: "output/old.json.signed")
            let document = try Data(contentsOf: file)
            let now = Int64(time.timeIntervalSince1970)
            let count = mutants(inPartsOf: 20)
            let read = campaign(0x7457, [Array(document)], count: count) { mutant in
                try Data(mutant).write(to: file)
                let takeover = try Takeover(trustServer: folder, as: nil, at: now, until: now + 86_400)
                let hosts = takeover.apps.flatMap(\.hosts)
                #expect(hosts.map(\.name) == [World.host])
                #expect(hosts.flatMap(\.certificates).map(\.fingerprint) == [Digest(of: leaf.der)])
            }
            #expect(read < count)
        }
    }

    @Test("A damaged certificate or key of a listener is named, and what was used before goes on")
    func listenerFiles() async throws {
        try await withFolder { folder in
            let files = ListenerFiles(folder)
            let leaf = try files.install(TestAuthority.root())
            let identity = try TLSIdentity(certificates: files.chain, key: files.key)
            let good = [files.chain, files.key].map { file in (file, (try? Data(contentsOf: file)) ?? Data()) }
            for (index, (file, bytes)) in good.enumerated() {
                let count = mutants(inPartsOf: 20)
                let read = campaign(0x71F5 + UInt64(index), [Array(bytes)], count: count) { mutant in
                    try Data(mutant).write(to: file)
                    let before = identity.leaf
                    do throws(ServerError) {
                        try identity.reload()
                    } catch {
                        #expect(error.code == .file && identity.leaf == before)
                        throw error
                    }
                }
                #expect(read < count)
                try bytes.write(to: file)
                try identity.reload()
                #expect(identity.leaf == leaf)
            }
        }
    }
}
