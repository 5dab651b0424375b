import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import Testing

@testable import HoldfastServer

@Suite("The command from two vantages")
struct VantageCommandTests {
    @Test("What two machines see can be proposed, and says so to those who approve it; what one sees cannot")
    func vantages() async throws {
        try await withFolder { folder in
            let desk = try CommandTests.Desk(in: folder)
            try await desk.makeServer()
            try await withLoopbackTLSServer(serving: desk.shown) { tls in
                let label = "\(World.host):\(tls.port)"
                _ = try await desk.run(
                    "host", "add", "bank", World.host, "--port", "\(tls.port)", "--dial", "127.0.0.1", "--data",
                    desk.data)
                let propose = [
                    "change", "propose", "bank", "--data", desk.data, "--format", "list", "--include-seen", "--reason",
                    "first", "--no-proposer",
                ]
                // The host on port 443 is nowhere.
                _ = try await desk.run(
                    "host", "see", "bank", "--data", desk.data, "--allow", "127.0.0.0/8", status: 1)
                let alone = try await desk.run(propose, status: 1)
                #expect(alone.contains("gate of \(label)") && alone.contains("seen from server only"), "\(alone)")
                #expect(alone.contains("next chain") && alone.contains("host import"), "\(alone)")

                let look = try ServingProcess(
                    [ServerProgram.url.path, "host", "look", label, "--dial", "127.0.0.1", "--allow", "127.0.0.0/8"])
                #expect(await look.status() == 0, "\(look.text)")
                try await look.says("holdfast-sightings-v1")
                try Data(look.text.utf8).write(to: folder.appending(path: "seen.json"))
                func take(_ vantage: String, status: Int32 = 0) async throws -> String {
                    try await desk.run(
                        "host", "import", "bank", "seen.json", "--vantage", vantage, "--data", desk.data, "--as",
                        "carol", status: status)
                }
                #expect(try await take("server", status: 2).contains("another place"))
                #expect(try await take("an office", status: 2).contains("vantage"))
                #expect(try await take("office").contains(label))
                let both = try await desk.run(propose)
                #expect(both.contains("SEEN ON THE NETWORK ONLY, from office, server"), "\(both)")
                #expect(try await desk.run("host", "list", "bank", "--data", desk.data).contains("from office"))
            }
        }
    }

    @Test("An app that asks two vantages to agree is held until they do, and is told of those that do not")
    func agreeing() async throws {
        try await withFolder { folder in
            let desk = try CommandTests.Desk(in: folder)
            try await desk.makeEmptyServer()
            let add = ["app", "add", "bank", "--data", desk.data, "--anchors", "roots.pem", "--no-shipped-pins"]
            #expect(try await desk.run(add + ["--vantages", "9"], status: 2).contains("of vantages:"))
            _ = try await desk.run(add + ["--vantages", "2"])
            #expect(try await desk.run("app", "list", "--data", desk.data).contains("2 vantages must agree"))
            let json = try await desk.run("app", "list", "--data", desk.data, "--json")
            #expect(json.contains(#""vantages":2"#), "\(json)")
            try await withLoopbackTLSServer(serving: desk.shown) { tls in
                let label = "\(World.host):\(tls.port)"
                _ = try await desk.run(
                    "host", "add", "bank", World.host, "--port", "\(tls.port)", "--dial", "127.0.0.1", "--data",
                    desk.data)
                let see = ["host", "see", "bank", "--data", desk.data, "--allow", "127.0.0.0/8"]
                let alone = try await desk.run(see, status: 1)
                #expect(alone.contains("HELD: it was seen from server only"), "\(alone)")
                #expect(try await desk.run("status", "--data", desk.data, status: 1).contains("HELD: \(label)"))
                func take(status: Int32 = 0) async throws -> String {
                    let look = try ServingProcess(
                        [
                            ServerProgram.url.path, "host", "look", label, "--dial", "127.0.0.1", "--allow",
                            "127.0.0.0/8",
                        ]
                    )
                    #expect(await look.status() == 0, "\(look.text)")
                    try await look.says("holdfast-sightings-v1")
                    try Data(look.text.utf8).write(to: folder.appending(path: "seen.json"))
                    return try await desk.run(
                        "host", "import", "bank", "seen.json", "--vantage", "office", "--data", desk.data,
                        status: status)
                }
                _ = try await take()
                #expect(try await desk.run("status", "--data", desk.data).contains("nothing is published"))
                _ = try await desk.run(see)
                try tls.serve(try desk.authority.impersonate(desk.shown))
                // Times have seconds: whoever has looked within this one has looked at the same time. Otherwise nobody
                // else has looked since the key changed, and the next look tells.
                let changed = try await desk.run(see, status: 1)
                try tls.serve(desk.shown)
                let isTold = changed.contains("ALARM: vantages disagree")
                let again = try await take(status: isTold ? 0 : 1)
                #expect(again.contains("ALARM: \(label): vantages disagree") != isTold, "\(changed)\(again)")
            }
        }
    }

    @Test("host look names what it cannot see, and asks no private address that nobody allowed")
    func look() async throws {
        try await withFolder { folder in
            let desk = try CommandTests.Desk(in: folder)
            try await withLoopbackTLSServer(serving: desk.shown) { tls in
                let refused = try await desk.run("host", "look", "127.0.0.1:\(tls.port)", status: 1)
                #expect(refused.contains("not every host shows a certificate"), "\(refused)")
                let allowed = try await desk.run(
                    "host", "look", "127.0.0.1:\(tls.port)", "--allow", "127.0.0.0/8")
                let file = try SightingsFile(Array(allowed.utf8))
                #expect(file.hosts.flatMap(\.shown).map(\.chain.certificates) == [desk.shown.chain])
                #expect(try await desk.run("host", "look", "a:b:c", status: 2).contains("NAME:PORT"))
            }
        }
    }
}
