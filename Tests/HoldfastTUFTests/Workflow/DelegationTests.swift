import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastTUF

@Suite("Delegations (section 5.6.7)", .timeLimit(.minutes(15)))
struct DelegationTests {
    private struct Edge {
        let from: String
        let to: String
        var paths = ["*"]
        var terminating = false
    }

    private static let graphs: [String: (edges: [Edge], visited: [String])] = [
        "one": ([Edge(from: "targets", to: "A")], ["A"]),
        "pre-order": (
            [
                Edge(from: "targets", to: "A"), Edge(from: "targets", to: "B"), Edge(from: "A", to: "C"),
                Edge(from: "C", to: "D"),
            ], ["A", "C", "D", "B"]
        ),
        "terminating": (
            [
                Edge(from: "targets", to: "A"), Edge(from: "targets", to: "B"),
                Edge(from: "A", to: "C", terminating: true), Edge(from: "A", to: "D"), Edge(from: "C", to: "E"),
            ], ["A", "C", "E"]
        ),
        "terminating without a match": (
            [Edge(from: "targets", to: "A", paths: ["y*"], terminating: true), Edge(from: "targets", to: "B")], ["B"]
        ),
        "cycle": (
            [
                Edge(from: "targets", to: "A"), Edge(from: "targets", to: "B"), Edge(from: "B", to: "C"),
                Edge(from: "C", to: "D"), Edge(from: "D", to: "B"),
            ], ["A", "B", "C", "D"]
        ),
        "two ways to one": (
            [
                Edge(from: "targets", to: "A"), Edge(from: "targets", to: "B"), Edge(from: "B", to: "C"),
                Edge(from: "A", to: "C", paths: ["*.py"]),
            ], ["A", "B", "C"]
        ),
    ]

    @Test(
        "Roles are visited in pre-order, each once, and none behind a terminating one", arguments: graphs.keys.sorted())
    func order(name: String) async throws {
        let graph = try #require(Self.graphs[name])
        var test = try TestClient()
        let key = try TestSigner()
        for edge in graph.edges {
            test.repository.delegate(
                from: edge.from, to: edge.to, key: key, paths: edge.paths, terminating: edge.terminating)
        }
        try test.repository.publishAll(increment: false)
        #expect(await test.refusal(of: "x") == .unknownTarget)
        #expect(test.source.asked().dropFirst(4).map { $0 } == graph.visited.map { "1.\($0).json" })
        // All of it is there now.
        #expect(await test.refusal(of: "x") == .unknownTarget)
        #expect(test.source.asked() == ["2.root.json", "timestamp.json"])
    }

    @Test("The first role in order that lists a target has the say")
    func priority() async throws {
        var test = try TestClient()
        test.repository.delegate(to: "A", key: try TestSigner())
        test.repository.delegate(to: "B", key: try TestSigner())
        test.repository.addTarget("x", Data("from B".utf8), to: "B")
        test.repository.addTarget("x", Data("A".utf8), to: "A")
        try test.repository.publishAll()
        #expect(try await test.refresh().target("x").length == 1)
    }

    @Test("A search ends at the cap of roles, and says so")
    func cap() async throws {
        var test = try TestClient(settings: TUFSettings(delegations: 3))
        let key = try TestSigner()
        for name in ["A", "B", "C", "D"] { test.repository.delegate(to: name, key: key) }
        test.repository.addTarget("x", Data(), to: "C")
        test.repository.addTarget("y", Data(), to: "D")
        try test.repository.publishAll()
        #expect(await test.refusal(of: "x") == nil)
        #expect(await test.refusal(of: "y") == .tooManyDelegations)
        #expect(test.source.asked().filter { $0.contains("D") }.isEmpty)
    }

    @Test("A kept role is verified against the delegator of this walk, not against the one of before")
    func currentDelegator() async throws {
        var test = try TestClient()
        let (mine, other) = (try TestSigner(), try TestSigner())
        test.repository.delegate(to: "A", key: mine, paths: ["a/*"])
        test.repository.delegate(to: "B", key: mine, paths: ["b/*"])
        test.repository.delegate(from: "A", to: "shared", key: mine, paths: ["*/*"])
        test.repository.delegate(from: "B", to: "shared", key: other, paths: ["*/*"])
        test.repository.signers["shared"] = [mine]
        test.repository.addTarget("a/1", Data("1".utf8), to: "shared")
        test.repository.addTarget("b/1", Data("1".utf8), to: "shared")
        try test.repository.publishAll()
        let update = try await test.refresh()
        _ = try await update.target("a/1")
        await #expect(throws: TUFError(.notSigned, expected: "", found: "")) { try await update.target("b/1") }
        _ = try await update.target("a/1")
    }

    @Test("A delegated role that is expired, missing in the snapshot or badly signed ends the search")
    func badRoles() async throws {
        var test = try TestClient()
        test.repository.delegate(to: "A", key: try TestSigner(), days: -1)
        try test.repository.publishAll()
        #expect(await test.refusal(of: "x") == .expired)
        test.repository.expire("A", at: test.repository.start + 1)
        let key = test.repository.signers["A"]
        test.repository.signers["A"] = [try TestSigner()]
        try test.repository.publishAll()
        #expect(await test.refusal(of: "x") == .notSigned)
        test.repository.signers["A"] = key
        try test.repository.publishAll()
        #expect(await test.refusal(of: "x") == .unknownTarget)

        var missing = try TestClient()
        missing.repository.delegate(to: "A", key: try TestSigner())
        try missing.repository.publishAll()
        missing.repository.change("snapshot") { $0["meta"] = ["targets.json": ["version": 2]] }
        try missing.repository.publish("snapshot")
        #expect(await missing.refusal(of: "x") == .missingRole)
    }

    @Test("Hash prefixes of names and bins of a power of two say who speaks of a target")
    func hashPrefixes() async throws {
        var test = try TestClient()
        let name = try TargetName("file")
        let digest = HexText.text(of: name.digest)
        test.repository.delegate(to: "wrong", key: try TestSigner(), paths: nil, hashPrefixes: ["zz", digest + "0"])
        test.repository.delegate(
            to: "right", key: try TestSigner(), paths: nil, hashPrefixes: ["zz", String(digest.prefix(3))])
        try test.repository.publishAll(increment: false)
        #expect(await test.refusal(of: "file") == .unknownTarget)
        #expect(test.source.asked().dropFirst(4).map { $0 } == ["1.right.json"])

        var bins = try TestClient()
        let key = try TestSigner()
        bins.repository.change("targets") { targets in
            targets["delegations"] = [
                "keys": [key.id: key.object],
                "succinct_roles": ["keyids": [key.id], "threshold": 1, "bit_length": 5, "name_prefix": "bin"],
            ]
        }
        let number = Int(name.digest[0] >> 3)
        let role = "bin-" + String(repeating: "0", count: number < 16 ? 1 : 0) + String(number, radix: 16)
        bins.repository.roles[role] = bins.repository.common("targets").merging(["targets": [String: Any]()]) { $1 }
        bins.repository.signers[role] = [key]
        bins.repository.addTarget("file", Data(), to: role)
        try bins.repository.publishAll(increment: false)
        #expect(try await bins.refresh().target("file").length == 0)
    }

    @Test(
        "Names of roles are quoted in URLs, and no role takes the file of another",
        arguments: [
            ("?", "%3F", "%3F.json"), ("#", "%23", "%23.json"), ("/role", "%2Frole", "%2Frole.json"),
            ("../role", "..%2Frole", "%2E.%2Frole.json"), (".", ".", "%2E.json"), ("..", "..", "%2E..json"),
            ("ролĕ", "%D1%80%D0%BE%D0%BB%C4%95", "%D1%80%D0%BE%D0%BB%C4%95.json"), ("a\u{0}b", "a%00b", "a%00b.json"),
            ("%2e", "%252e", "%252e.json"), ("Root", "Root", "%52oot.json"),
            ("TIMESTAMP", "TIMESTAMP", "%54IMESTAMP.json"),
            ("a b\\c", "a%20b%5Cc", "a%20b%5Cc.json"),
        ])
    func names(name: String, quoted: String, file: String) async throws {
        let role = try RoleName(delegated: Array(name.utf8))
        #expect(role.remoteFile(version: 1) == "1.\(quoted).json")
        #expect(role.localFile == file)
        var test = try TestClient()
        test.repository.delegate(to: name, key: try TestSigner())
        test.repository.addTarget("x", Data(), to: name)
        try test.repository.publishAll(increment: false)
        #expect(await test.refusal(of: "x") == nil)
        #expect(test.source.asked().last == "1.\(quoted).json")
    }

    @Test("A delegation to a top-level role, to none, or to one of two names is refused")
    func refusedNames() async throws {
        for name in ["root", "timestamp", "snapshot", "targets", "", String(repeating: "a", count: 1_025)] {
            var test = try TestClient()
            test.repository.delegate(to: "A", key: try TestSigner())
            test.repository.change("targets") { targets in
                var delegations = targets["delegations"] as? [String: Any] ?? [:]
                var roles = delegations["roles"] as? [[String: Any]] ?? []
                roles[0]["name"] = name
                delegations["roles"] = roles
                targets["delegations"] = delegations
            }
            try test.repository.publishAll()
            #expect(await test.refusal() == .malformed, "\(name)")
        }
        let long = try RoleName(delegated: Array(repeating: 0xC3, count: 300))
        #expect(long.localFile.utf8.count < 100)
        var twice = try TestClient()
        for _ in 0..<2 { twice.repository.delegate(to: "A", key: try TestSigner()) }
        try twice.repository.publishAll()
        #expect(await twice.refusal() == .malformed)
    }

    @Test("Matching patterns has a budget")
    func costlyPatterns() async throws {
        var test = try TestClient(settings: TUFSettings(patternSteps: 100_000))
        let pattern = String(repeating: "*a", count: 100) + "b"
        test.repository.delegate(to: "A", key: try TestSigner(), paths: Array(repeating: pattern, count: 100))
        try test.repository.publishAll()
        #expect(await test.refusal(of: String(repeating: "a", count: 1_000)) == .tooCostly)
        #expect(test.client.meter.total.patternSteps <= 101_000)
        #expect(await test.refusal(of: "b") == .unknownTarget)
    }
}
