import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastPublishing
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl trust-server", .timeLimit(.minutes(15)))
struct TrustServerTests {
    @Test(
        "Wrong usage ends with 2",
        arguments: [
            ["trust-server"], ["trust-server", "show"], ["trust-server", "show", "--customer", "../x"],
            ["trust-server", "publish", "--customer", "a", "--domains", "d", "--folder", "o", "--kind", "p-256"],
            ["trust-server", "publish", "--customer", "a", "--domains", "d", "--folder", "o", "--every", "5"],
            ["trust-server", "publish", "--customer", "a", "--domains", "d", "--folder", "o", "--every", "11m"],
            ["trust-server", "publish", "--customer", "a", "--domains", "d", "--folder", "o", "--include", "root"],
            ["trust-server", "publish", "--customer", "a", "--domains", "d", "--folder", "o", "--tries", "17"],
            ["trust-server", "publish", "--customer", "a", "--domains", "d", "--folder", "o", "--max-changes", "-1"],
            ["trust-server", "publish", "--customer", "a", "--domains", "d", "--folder", "o", "--overlap", "7"],
            ["trust-server", "publish", "--customer", "a/b", "--domains", "d", "--folder", "o"],
        ])
    func usage(arguments: [String]) async throws {
        #expect(try await CommandRun.holdfastctl(arguments).status == 2)
    }

    @Test("A document that a link leads to is replaced where the link leads; a comment may follow a host")
    func publishThroughLink() async throws {
        try await TrustServerSite.with { site in
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                try site.write("data/acme.domains", "127.0.0.1:\(server.port)  # the first\n")
                let link = site.file("output/acme.json.signed").path
                try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "../web.signed")
                for _ in 0..<2 {
                    let run = try await site.publish()
                    #expect(run.status == 0, "\(run.errors)")
                    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "../web.signed")
                }
                #expect(try site.document().entries.count == 1)
            }
        }
    }

    @Test("Files that are missing or say nonsense end with 3 and are named")
    func files() async throws {
        try await TrustServerSite.with { site in
            let missing = try await site.publish()
            #expect(missing.status == 3 && missing.errors.contains("acme.domains"))
            for text in ["", "# nothing\n\n", "a.example.com:99999\n", "a.example.com\n127.1:443\n", "a b\n"] {
                try site.write("data/acme.domains", text)
                let run = try await site.publish()
                #expect(run.status == 3 && run.errors.contains("acme.domains"), "\(text)")
            }
            try site.write("data/acme.domains", "127.0.0.1:1\n")
            let key = try await site.publish(["--key", "root.pem"])
            #expect(key.status == 3 && key.errors.contains("root.pem"))
            #expect(!FileManager.default.fileExists(atPath: site.file("output/acme.json.signed").path))
        }
    }

    @Test("publish signs what it validated, and openssl verifies it")
    func publish() async throws {
        try await TrustServerSite.with { site in
            try await withLoopbackTLSServer(serving: site.leaf) { first in
                try await withLoopbackTLSServer(serving: site.leaf) { second in
                    try site.write(
                        "data/acme.domains",
                        "# hosts\n127.0.0.1:\(first.port)\n\n127.0.0.1:\(second.port)\n127.0.0.1:\(first.port)\n")
                    let spare = try TestKey(.p256)
                    try site.write("next.pub", spare.publicKeyPEM)
                    let run = try await site.publish(["--include", "all", "--backup", "next.pub"])
                    #expect(run.status == 0, "\(run.errors)")
                    #expect(run.output.contains(" published 2 hosts in "))
                    #expect(run.errors.isEmpty)
                    let document = try site.document()
                    #expect(document.entries.map(\.hostname) == ["127.0.0.1", "127.0.0.1"])
                    #expect(document.entries.map(\.port) == [first.port, second.port])
                    let path = try (site.leaf.chain + [site.root.certificate.der]).map { try X509Certificate(der: $0) }
                    let backup = try Pin.publicKey(spkiDER: spare.subjectPublicKeyInfoDER)
                    for entry in document.entries {
                        #expect(entry.certificatePins == path.map(\.certificatePin))
                        #expect(entry.publicKeyPins == path.map(\.publicKeyPin) + [backup])
                    }
                    #expect(try site.mode("output/acme.json.signed") == 0o644)
                    let names = try FileManager.default.contentsOfDirectory(atPath: site.file("output").path)
                    #expect(names.sorted() == ["acme.crt", "acme.json.signed", "acme.pem"])
                    guard ForeignProgram.openSSL.runsPart() else { return }
                    let foreign = try await OpenSSLProgram.run(
                        [
                            "smime", "-verify", "-inform", "der", "-in", "output/acme.json.signed", "-CAfile",
                            "output/acme.pem",
                        ], in: site.folder)
                    #expect(foreign.status == 0, "\(foreign.text)")
                }
            }
        }
    }

    @Test("A host that fails keeps its entry, is named, and makes it 3; one that is not trusted makes it 1")
    func failing() async throws {
        try await TrustServerSite.with { site in
            try await withLoopbackTLSServer(serving: site.leaf) { good in
                let gone = try await withLoopbackTLSServer(serving: site.leaf) { other in
                    try site.write("data/acme.domains", "127.0.0.1:\(good.port)\n127.0.0.1:\(other.port)\n")
                    let run = try await site.publish()
                    #expect(run.status == 0)
                    return other.port
                }
                let before = try site.document()
                let unreachable = try await site.publish()
                #expect(unreachable.status == 3)
                #expect(unreachable.errors.contains("127.0.0.1:\(gone) keeps its entry of "))
                #expect(unreachable.output.contains("published 2 hosts"))
                #expect(try site.document().entries == before.entries)

                // An impostor: its chain is not trusted, so it gets no entry.
                let impostor = try TestAuthority.root(name: "Elsewhere").leaf(names: [.address([127, 0, 0, 1])])
                try await withLoopbackTLSServer(serving: impostor) { server in
                    try site.write("data/acme.domains", "127.0.0.1:\(good.port)\n127.0.0.1:\(server.port)\n")
                    let untrusted = try await site.publish()
                    #expect(untrusted.status == 1)
                    #expect(
                        untrusted.errors.contains(
                            "127.0.0.1:\(server.port) has no entry to keep and is left out: unknownIssuer"))
                    #expect(
                        untrusted.errors.contains(
                            "no longer published, because the list does not have them: 127.0.0.1:\(gone)"))
                    #expect(try site.document().entries.map(\.port) == [good.port])
                }
            }
        }
    }

    @Test("An entry is not kept longer than --keep says")
    func keep() async throws {
        try await TrustServerSite.with { site in
            let gone = try await withLoopbackTLSServer(serving: site.leaf) { server in
                try site.write("data/acme.domains", "127.0.0.1:\(server.port)\n")
                #expect(try await site.publish().status == 0)
                return server.port
            }
            let file = site.file("data/acme.hosts.json")
            let text = try String(contentsOf: file, encoding: .utf8)
            let older = text.replacing(/"validated":(\d+)/) { match in "\"validated\":\((Int(match.1) ?? 0) - 3_600)" }
            try Data(older.utf8).write(to: file)
            let kept = try await site.publish(["--keep", "2h"])
            #expect(kept.status == 3 && kept.output.contains("published 1 host"))
            let dropped = try await site.publish(["--keep", "59m"])
            #expect(dropped.status == 3 && dropped.output.isEmpty)
            #expect(dropped.errors.contains("127.0.0.1:\(gone) has no entry to keep"))
            let again = try await site.publish(["--keep", "2h"])
            #expect(again.status == 3 && again.output.contains("published 1 host"))
        }
    }

    @Test("What is remembered and damaged is told, and stops nothing")
    func damaged() async throws {
        try await TrustServerSite.with { site in
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                let file = site.file("data/acme.hosts.json")
                try site.write("data/acme.domains", "127.0.0.1:\(server.port)\n")
                try site.write("data/acme.hosts.json", "[{")
                let run = try await site.publish()
                #expect(run.status == 3 && run.errors.contains("acme.hosts.json is damaged"), "\(run.errors)")
                #expect(try site.document().entries.map(\.port) == [server.port])
                let memory = try PublishingMemory(reading: try Data(contentsOf: file))
                #expect(memory.hosts.map(\.port) == [server.port])
                #expect(try site.mode("data/acme.hosts.json") == 0o600)
                #expect(try await site.publish().status == 0)

                try FileManager.default.removeItem(at: file)
                try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
                let unwritable = try await site.publish()
                #expect(unwritable.status == 3 && unwritable.output.contains(" published 1 host"))
                #expect(unwritable.errors.contains("acme.hosts.json cannot be read: it is a folder"))
                #expect(unwritable.errors.contains("the next round knows nothing of this one"))
            }
        }
    }

    @Test("A document of the future is replaced where no client can have taken it, with a word, and otherwise not")
    func clock() async throws {
        try await TrustServerSite.with { site in
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                try site.write("data/acme.domains", "127.0.0.1:\(server.port)\n")
                let near = try site.emptyDocument(at: site.second + 240)
                try near.write(to: site.file("output/acme.json.signed"))
                let refused = try await site.publish()
                #expect(refused.status == 1 && refused.errors.contains("Check the clock"))
                #expect(try Data(contentsOf: site.file("output/acme.json.signed")) == near)

                let far = site.second + 3_600
                try site.emptyDocument(at: far).write(to: site.file("output/acme.json.signed"))
                let run = try await site.publish()
                // It is unknown what was there before it.
                #expect(run.status == 3 && run.errors.contains("acme.replaced.json: it is not there"), "\(run.errors)")
                let time = Date(timeIntervalSince1970: Double(far)).formatted(.iso8601)
                #expect(run.errors.contains("acme.json.signed was made at \(time), and it is "))
                #expect(try site.document().entries.map(\.port) == [server.port])
                let next = try await site.publish()
                #expect(next.status == 0 && next.errors.isEmpty)
            }
        }
    }

    @Test(
        "Five minutes ahead is what clients take, and no more",
        arguments: [(300, false), (301, true)] as [(Int64, Bool)])
    func tolerance(ahead: Int64, isReplaced: Bool) async throws {
        try await TrustServerSite.with { site in
            let now = site.second
            let published = try site.emptyDocument(at: now + ahead)
            try published.write(to: site.file("output/acme.json.signed"))
            let publication = try site.publication(
                ScriptedClock { Date(timeIntervalSince1970: Double(now)) })
            if isReplaced {
                #expect(try await publication.run().published == 1)
            } else {
                await #expect(throws: CommandFailure.self) { try await publication.run() }
            }
            #expect((try Data(contentsOf: site.file("output/acme.json.signed")) != published) == isReplaced)
        }
    }

    @Test("One command publishes at a time, and none puts an older document over the newer one of another")
    func sideBySide() async throws {
        try await TrustServerSite.with { site in
            let now = site.second
            let newer = try site.emptyDocument(at: now + 60)
            let file = site.file("output/acme.json.signed")
            let isLocked = Lock<[Bool]>([])
            // Another command publishes as soon as this one has taken the time of its round.
            let clock = ScriptedClock {
                isLocked.withLock { isLocked in
                    isLocked.append(site.isLocked)
                    if isLocked.count == 1 { #expect(throws: Never.self) { try newer.write(to: file) } }
                    return Date(timeIntervalSince1970: Double(isLocked.count == 1 ? now : now + 60))
                }
            }
            let report = try await site.publication(clock).run()
            #expect(report.published == nil && report.status == nil)
            #expect(try Data(contentsOf: file) == newer)
            #expect(!FileManager.default.fileExists(atPath: site.file("data/acme.hosts.json").path))
            #expect(isLocked.withLock { $0 } == [false, true])
            #expect(!site.isLocked)
        }
    }

    @Test("With --every it publishes again and again, and ends with 0 on SIGTERM with a whole document")
    func every() async throws {
        try await TrustServerSite.with { site in
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                try site.write("data/acme.domains", "127.0.0.1:\(server.port)\n")
                // The shell starts it, sees three documents by their line, and tells it to stop.
                let script = """
                    : > log; "$@" --every 1s >> log & pid=$!
                    while [ "$(grep -c published log)" -lt 3 ]; do kill -0 $pid || exit 9; sleep 0.1; done
                    kill -TERM $pid; wait $pid
                    """
                let run = try await site.publish(by: script)
                #expect(run.status == 0, "\(run.errors)")
                #expect(try site.document().entries.map(\.port) == [server.port])
            }
        }
    }

    @Test("With --every a backup key that is replaced is published in its turn, and one that is gone ends nothing")
    func everyReadsAgain() async throws {
        try await TrustServerSite.with { site in
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                try site.write("data/acme.domains", "127.0.0.1:\(server.port)\n")
                let second = try TestKey(.p256)
                try site.write("next.pub", try TestKey(.p256).publicKeyPEM)
                try site.write("second.pub", second.publicKeyPEM)
                let script = """
                    : > log
                    more() { n=$(($(grep -c published log) + 2))
                      while [ "$(grep -c published log)" -lt $n ]; do kill -0 $pid || exit 9; sleep 0.1; done; }
                    "$@" --every 1s --backup next.pub >> log & pid=$!
                    more; mv second.pub next.pub; more; rm next.pub; more
                    kill -TERM $pid; wait $pid
                    """
                let run = try await site.publish(by: script)
                #expect(run.status == 0, "\(run.errors)")
                #expect(run.errors.contains("next.pub cannot be read: no such file. What was read before"))
                let pins = try site.document().entries.flatMap(\.publicKeyPins)
                #expect(pins.count == 2)
                #expect(pins.contains(try Pin.publicKey(spkiDER: second.subjectPublicKeyInfoDER)))
            }
        }
    }

    @Test("A stopped gate lets no write begin, and stopping waits for the one at hand")
    func gate() {
        let gate = StopGate()
        #expect(gate.enter())
        gate.leave()
        gate.stop()
        #expect(!gate.enter())
    }

    @Test(
        "Rounds begin at whole intervals however long they took",
        arguments: [(0, 300), (1, 300), (299, 300), (300, 600), (301, 600), (899, 900), (900, 1_200)])
    func schedule(elapsed: Int, next: Int) {
        let schedule = RepeatingSchedule(interval: TimeSpan(seconds: 300))
        #expect(schedule.next(after: .seconds(elapsed)) == .seconds(next))
    }

    @Test("Lengths of time are numbers with a unit")
    func spans() throws {
        #expect(try TimeSpan.read("30s").seconds == 30)
        #expect(try TimeSpan.read("5m").seconds == 300)
        #expect(try TimeSpan.read("2h").seconds == 7_200)
        #expect(try TimeSpan.read("7d").seconds == 604_800)
        for text in ["", "m", "5", "5 m", "-5m", "5M", "5.5m", "٥m", "9999999999d"] {
            #expect(throws: (any Error).self, "\(text)") { try TimeSpan.read(text) }
        }
    }
}
