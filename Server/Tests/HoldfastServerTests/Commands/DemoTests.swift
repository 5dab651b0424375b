import Foundation
import Testing

@testable import HoldfastServer

@Suite("The demo", .timeLimit(.minutes(5)))
struct DemoTests {
    private static let clients = [
        "list", "challenge", "trust-server certificates", "trust-server keys", "repository", "pin file",
        "Android's configuration", "App Transport Security", "TrustKit's configuration",
    ]

    private static let gates: [String] = ["validation", "base", "lint", "replay", "outlook"].map { "gate \($0)" }
    private static let following: [String] = ["today's certificate", "the next certificate"].flatMap { words in
        clients.map { "\(words): \($0) gets in" }
    }

    /// Everything that has to be seen, act by act.
    private static let acts: [(title: String, steps: [String])] = [
        (
            "A host is seen, and its next certificate announced",
            [
                "a repository is begun", "the watcher saw 1 address, with a certificate",
                "pinning what was seen from one place only: refused, gate",
                "its owner announces it, and the next one, to be shown in 31 days",
            ]
        ),
        (
            "A change is proposed, approved with two keys, and published",
            gates + [
                "gate signatures is closed", "publishing without an approval: refused, notApproved",
                "publishing with one approval of two: refused, notApproved",
                "publishing without the signatures of the repository's holders: refused, gate",
                "published, approved by alice and bob",
            ]
        ),
        (
            "Real clients of each format follow, and the host changes to its next certificate",
            following + ["the watcher knows the next certificate, and is silent"]
        ),
        (
            "The host shows a key that nobody announced",
            ["no client gets in", "the watcher raises an alarm", "it proposes nothing"]
        ),
        (
            "Somebody wants the clients to take that key",
            [
                "pinning it because the watcher saw it: refused, gate",
                "a wrong approval, by a stranger: refused", "a wrong approval, in the name of alice: refused",
                "alice's signature under the first change, replayed for this one: refused, invalidSignature",
                "publishing it all the same: refused, notApproved",
                "the stolen database: its keys do not open without the secret",
                "the rewritten database: publishing from it: refused, brokenChain",
                "the rewritten database: nothing is signed again from it",
                "the rewritten database: a server that starts with it: refused, brokenChain",
                "what is served is what was approved", "clients that start now refuse that key as well",
                "clients that have pins get in with the next certificate",
                "clients that start now get in with the next certificate",
            ]
        ),
    ]

    /// More than it takes, in a debug build on a slow machine, and well under the minute in which it has to end: what it
    /// waits for beside it are handshakes on loopback.
    private static let processorSeconds = 20.0

    @Test("It shows a whole server act by act, each step goes as it must, and it needs seconds of a processor")
    func story() async throws {
        try await withFolder { folder in
            let (status, octets) = try await ForeignProgram.run(
                ForeignProgram.required("bash"),
                ["-c", "TIMEFORMAT='processor %U %S'; time \"$0\" demo", ServerProgram.url.path], in: folder,
                withErrors: true, environment: ["LC_ALL": "C"])
            let output = String(decoding: octets, as: UTF8.self)
            #expect(status == 0, "\(output)")
            #expect(!output.contains("FAILED"), "\(output)")
            #expect(output.contains("Everything went as it should: nobody was locked out"), "\(output)")
            let lines = output.split(separator: "\n")
            var steps = lines.count { $0.hasPrefix("  ok     ") }
            for (index, act) in Self.acts.enumerated() {
                let begin = try #require(lines.firstIndex { $0.elementsEqual(act.title) }, "\(act.title): \(output)")
                let next = index + 1 < Self.acts.count ? Self.acts[index + 1].title : ""
                let shown = lines[begin...].prefix { !$0.elementsEqual(next) }
                for step in act.steps {
                    #expect(shown.contains { $0.hasPrefix("  ok     \(step)") }, "\(step) is not among \(shown)")
                }
            }
            for (program, words) in [("curl", "certificate: curl gets in"), ("openssl", "openssl verifies the trust")] {
                let shown = lines.count { $0.contains(words) }
                #expect(!ForeignProgram.isTested(program) || shown > 0, "\(output)")
                steps -= shown
            }
            // No more work than that.
            #expect(steps == Self.acts.reduce(0) { $0 + $1.steps.count }, "\(output)")
            let times = try #require(lines.last { $0.hasPrefix("processor ") }).split(separator: " ").compactMap {
                Double($0)
            }
            #expect(times.count == 2 && times.reduce(0, +) < Self.processorSeconds, "\(times)")
        }
    }

    @Test("Stopped halfway it says so, no step went wrong, and nothing of it is left", arguments: [SIGINT, SIGTERM])
    func interrupted(_ signal: Int32) async throws {
        try await withFolder { folder in
            let demo = try ServingProcess(
                [ServerProgram.url.path, "demo"], in: folder, environment: ["TMPDIR": folder.path])
            try await demo.says("is seen, and its next certificate announced")
            demo.signal(signal)
            #expect(await demo.status() == 128 + signal)
            try await demo.says("interrupted: the folder of the demo is removed")
            #expect(!demo.text.contains("FAILED") && !demo.text.contains("Error"), "\(demo.text)")
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(left.filter { $0.hasPrefix("holdfast-server-demo") } == [])
        }
    }
}
