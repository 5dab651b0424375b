import Foundation
import Holdfast
import HoldfastProbe
import HoldfastSigning
import HoldfastTesting
import NIOCore
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

/// Messages that misled people.
@Suite("Messages in plain words", .timeLimit(.minutes(5)))
struct PlainMessageTests {
    @Test("A line break in an argument forges no line, whatever verb repeats it")
    func lineBreaks() async throws {
        try await withFolder { folder in
            let name = "x\nchange 1 is approved\u{1B}[2J"
            for arguments in [
                [name], ["--\(name)"], ["app", "add", name, "--data", "data"], ["host", "add", "bank", name],
                ["change", "show", name, "--data", "data"], ["status", "--data", name], ["sign", name],
                ["genesis", "--approver", "a=\(name)"], ["token", "add", "t", "--data=\(name)"],
            ] {
                let (status, output) = try await ServerProgram.run(arguments, in: folder)
                #expect(status == 2 && output.split(separator: "\n").count == 1, "\(arguments): \(output)")
                #expect(output.contains(#"without line breaks, found ""#), "\(output)")
                #expect(output.contains(#"x\u{a}change 1 is approved\u{1b}[2J"#), "\(output)")
            }
        }
    }

    @Test("What an address showed is one line, though the failure of a client has several")
    func oneLine() {
        let finding = WatchFinding(
            place: "192.0.2.1:443", chain: [], verdict: .invalid,
            words: "pinMismatch: expected one of these:\n  sha256/AAA\r\n  sha256/BBB\n\nfound another", key: nil)
        #expect(finding.words == "pinMismatch: expected one of these: sha256/AAA; sha256/BBB; found another")
    }

    @Test(
        "Where nothing is taken, a POST is answered with 405 and never with 413, however short its body",
        arguments: ["/reports", "/reports/", "/lists/bank.json", "/nothing"])
    func posting(_ path: String) async throws {
        let site = try ServingSite()
        site.publish(documents: ["lists/bank.json": ServingSite.document(Array("list".utf8))], apps: [try site.app()])
        try await site.listening { port in
            for (header, body) in [("Content-Length: 1", "x"), ("Transfer-Encoding: chunked", "1\r\nx\r\n0\r\n\r\n")] {
                for method in ["POST", "PUT"] {
                    let answer = RawAnswer(
                        try await RawClient(port: port).exchange(
                            "\(method) \(path) HTTP/1.1\r\nHost: pins.example.net\r\n\(header)\r\n\r\n\(body)"))
                    #expect([404, 405].contains(answer.status), "\(method) \(path): \(answer.text)")
                    #expect(answer.text.components(separatedBy: "HTTP/1.1 ").count == 2, "\(answer.text)")
                }
            }
            #expect(try await RawClient(port: port).get("/lists/bank.json").body == "list")
        }
    }

    @Test("A chain with CRLF and the attributes of a bag is announced over HTTP as with the command")
    func announcement() async throws {
        try await AdministrationSite.run { site in
            let next = try site.world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
            let text = "Bag Attributes\n    friendlyName: www\nsubject=CN = www\n\(next.chainPEM)"
                .replacingOccurrences(of: "\n", with: "\r\n")
            let body = String(
                decoding: CanonicalJSON.object([
                    "chain": .text(text), "begins": AdministrationView.time(site.world.now + World.month),
                ]).bytes, as: UTF8.self)
            let answer = try await site.call("PUT", "/v1/apps/bank/hosts/\(World.host)/next", body: body)
            #expect(answer.status == 200 && answer.body.contains("\(Digest(of: next.der))"), "\(answer.text)")
        }
    }

    @Test("The remedy of a gate that nobody can force does not name --force")
    func signatures() async throws {
        try await World.run { world in
            let change = try await world.catalog.change(world.propose().change)
            for gate in Gate.allCases {
                let report = GateReport(
                    results: [GateReport.Result(gate: gate, refusals: ["no signature"], isForced: false)])
                let error = #expect(throws: ServerError.self) { try report.requirePassed(change) }
                let remedy = error?.remedy ?? ""
                #expect(
                    (remedy.contains("--force") || remedy.contains("--emergency")) == gate.canBeForced,
                    "\(gate): \(remedy)")
            }
        }
    }

    @Test("doctor says of one person that they approve with a passkey, and of several that they approve with passkeys")
    func passkeys() throws {
        for (count, words) in [(1, " approves with a passkey, "), (2, "approve with passkeys, ")] {
            let holders = Array([PasskeyStory.phone, PasskeyStory.stick].prefix(count))
            let terms = PasskeyTerms(.keyRequired, at: try SoftPasskey.party)
            let set = try ApproverSet(PasskeyStory.members(holders), number: 2, passkeys: terms)
            let said = set.passkeyFindings(pages: nil).map(\.words)
            #expect(said.contains { $0.contains(words) }, "\(said)")
        }
    }

    @Test("A certificate of a report that is published is not called no pin: the client's pins are older")
    func oldPins() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let desk = try await ReportDesk(world)
            try desk.count([ReportDesk.pinFailure(world.shown.chain, result: 1, version: "7")])
            _ = try await desk.rows()
            let page = PageValue.record(try await PageDesk(world).made("/apps/bank/reports?days=1").content)
            let chain = try #require(page["samples"]?.values.first?["chain"]?.values)
            #expect(chain.first?.text("match") == "is published now, and the client's pins are older")
            #expect(chain.dropFirst().allSatisfy { $0.text("match") == "is no pin" })
        }
    }

    @Test("A sighting of a time that is yet to come is called that, and says what to do")
    func future() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let seen = try Observation(
                vantage: "here", address: "192.0.2.1", chain: CertificateChain(world.shown.chain), firstSeen: world.now,
                lastSeen: world.now + 7_200)
            try await world.catalog.note(
                [(host: world.catalogHost, seen: [seen])], from: "here", of: world.app, by: "test")
            let losses = try await world.publisher.standing(of: world.app).losses
            #expect(losses.contains { $0.contains("yet to come") && $0.contains("probe the host again") }, "\(losses)")
            #expect(!losses.contains { $0.contains("from now") })
        }
    }

    @Test("change propose names older proposals of the app that are still open, and restore says where the head is")
    func commands() async throws {
        try await withFolder { folder in
            let desk = try CommandTests.Desk(in: folder)
            try await desk.makeServer()
            try await desk.see()
            let propose = [
                "change", "propose", "bank", "--data", desk.data, "--format", "list", "--no-proposer", "--reason",
            ]
            let first = try await desk.run(propose + ["the first"])
            #expect(!first.contains("still open"), "\(first)")
            let id = String(first.split(separator: "\n")[0].dropFirst("change ".count))
            let second = try await desk.run(propose + ["the second"])
            #expect(second.contains("still open: change \(id), proposed since ") && second.contains("the first"))
            let key = SigningKey()
            try Data(key.pem.utf8).write(to: folder.appending(path: "backup.pem"))
            try Data("\(key.publicKey.base64)\n".utf8).write(to: folder.appending(path: "backup.pub"))
            _ = try await desk.run("token", "add", "one", "--data", desk.data, "--app", "bank", "--scope", "read")
            _ = try await desk.run("backup", "--data", desk.data, "--to", "b", "--recipient", "backup.pub")
            let restored = try await desk.run(
                "restore", "b", "--key", "backup.pem", "--secret", "secret", "--data", "new", "--public", "data/public",
                "--no-public-url")
            #expect(restored.contains("1 token was ended: make a new one"), "\(restored)")
            #expect(
                restored.contains("The newest line \"signed again: … head NUMBER DIGEST\" in the log"), "\(restored)")
        }
    }
}
