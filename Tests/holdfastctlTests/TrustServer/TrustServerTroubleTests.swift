import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastPublishing
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("A trust server in trouble", .timeLimit(.minutes(15)))
struct TrustServerTroubleTests {
    @Test("A host that was never published and cannot be reached is left out, and stops nobody")
    func neverPublished() async throws {
        try await TrustServerSite.with { site in
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                try site.write("data/acme.domains", "127.0.0.1:\(server.port)\n127.0.0.1:1\n")
                let run = try await site.publish()
                #expect(run.status == 3 && run.output.contains(" published 1 host in "))
                #expect(run.errors.contains("127.0.0.1:1 has no entry to keep and is left out: cannot connect"))
                #expect(try site.document().entries.map(\.port) == [server.port])
            }
        }
    }

    @Test(
        "Where the list cannot be read the hosts of the last round are published, and it ends with 3",
        arguments: [nil, "", "# nothing\n", "127.0.0.1:1\na b\n"] as [String?])
    func list(content: String?) async throws {
        try await TrustServerSite.with { site in
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                try site.write("data/acme.domains", "127.0.0.1:\(server.port)\n")
                #expect(try await site.publish().status == 0)
                try FileManager.default.removeItem(at: site.file("output/acme.json.signed"))
                if let content {
                    try site.write("data/acme.domains", content)
                } else {
                    try FileManager.default.removeItem(at: site.file("data/acme.domains"))
                }
                let run = try await site.publish()
                #expect(run.status == 3 && run.output.contains(" published 1 host in "), "\(run.errors)")
                #expect(
                    run.errors.contains("acme.domains")
                        && run.errors.contains("Z the hosts of the last round are asked\n"))
                #expect(try site.document().entries.map(\.port) == [server.port])
            }
        }
    }

    @Test("With --every a list that is gone, empty or damaged stops nothing, and counts again when it is there")
    func everyWithoutList() async throws {
        try await TrustServerSite.with { site in
            try await withLoopbackTLSServer(serving: site.leaf) { first in
                try await withLoopbackTLSServer(serving: site.leaf) { second in
                    try site.write("data/acme.domains", "127.0.0.1:\(first.port)\n")
                    try site.write("more.domains", "127.0.0.1:\(first.port)\n127.0.0.1:\(second.port)\n")
                    let script = """
                        more() { n=$(($(grep -c published log) + 2)); t=0
                          while [ "$(grep -c published log)" -lt $n ]; do
                            kill -0 $pid || exit 9; t=$((t + 1)); [ $t -lt 600 ] || { kill $pid; exit 8; }; sleep 0.1
                          done; }
                        : > log; "$@" --every 1s >> log & pid=$!
                        more; rm data/acme.domains; more; : > data/acme.domains; more
                        mv more.domains data/acme.domains; more
                        kill -TERM $pid; wait $pid
                        """
                    let run = try await site.publish(by: script)
                    #expect(run.status == 0, "\(run.errors)")
                    #expect(run.errors.contains("acme.domains cannot be read: no such file. What was read before"))
                    #expect(run.errors.contains("acme.domains: expected a host, found none"))
                    #expect(try site.document().entries.map(\.port) == [first.port, second.port])
                }
            }
        }
    }

    @Test("Backups and authorities that cannot be read are those of the last round, and it ends with 3")
    func otherFiles() async throws {
        try await TrustServerSite.with { site in
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                try site.write("data/acme.domains", "127.0.0.1:\(server.port)\n")
                try site.write("next.pub", try TestKey(.p256).publicKeyPEM)
                #expect(try await site.publish(["--backup", "next.pub"]).status == 0)
                let before = try site.document().entries
                #expect(before.flatMap(\.publicKeyPins).count == 2)
                try site.write("next.pub", "")
                let backup = try await site.publish(["--backup", "next.pub"])
                #expect(backup.status == 3 && backup.errors.contains("Z the backups of the last round are published\n"))
                #expect(try site.document().entries == before)
                try site.write("next.pub", try TestKey(.p256).publicKeyPEM)
                let anchors = try await site.publish(["--ca", "nowhere.pem"])
                #expect(anchors.status == 3 && anchors.output.contains(" published 1 host"), "\(anchors.errors)")
                #expect(anchors.errors.contains("127.0.0.1:\(server.port) keeps its entry of "))
                #expect(anchors.errors.contains("nowhere.pem"))
            }
        }
    }

    @Test("A memory that cannot be read is left as it is, and counts again when it can be")
    func unreadableMemory() async throws {
        try await TrustServerSite.with { site in
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                try site.write("data/acme.domains", "127.0.0.1:\(server.port)\n")
                #expect(try await site.publish().status == 0)
                let memory = site.file("data/acme.hosts.json")
                let content = try Data(contentsOf: memory)
                // Longer than any memory, which is as unreadable as one without permission, also for root.
                let handle = try FileHandle(forWritingTo: memory)
                try handle.truncate(atOffset: 65 << 20)
                try handle.close()
                let run = try await site.publish()
                #expect(run.status == 3 && run.output.contains(" published 1 host in "), "\(run.errors)")
                #expect(run.errors.contains("acme.hosts.json cannot be read: it has more than"))
                #expect(run.errors.contains("It is left as it is"))
                #expect(try FileManager.default.attributesOfItem(atPath: memory.path)[.size] as? Int == 65 << 20)

                // Marked: rounds of one second write the same.
                let marked = content + Data("\n\n".utf8)
                try marked.write(to: memory)
                try site.write("data/acme.domains", "127.0.0.1:\(server.port)\n127.0.0.1:1\n")
                let next = try await site.publish()
                #expect(next.errors.contains("127.0.0.1:1 has no entry to keep"))
                #expect(!next.errors.contains("acme.hosts.json"))
                #expect(try Data(contentsOf: memory) != marked)
            }
        }
    }

    @Test(
        "When the memory is lost or damaged, the pins of the published document last for the overlap",
        arguments: [nil, "{"])
    func lostMemory(content: String?) async throws {
        try await TrustServerSite.with { site in
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                try site.write("data/acme.domains", "127.0.0.1:\(server.port)\n")
                #expect(try await site.publish().status == 0)
                let old = try Pin.publicKey(of: site.leaf.der)
                let memory = site.file("data/acme.hosts.json")
                if let content {
                    try Data(content.utf8).write(to: memory)
                } else {
                    try FileManager.default.removeItem(at: memory)
                }
                let renewed = try site.root.leaf(names: [.address([127, 0, 0, 1])])
                try server.serve(renewed)
                let run = try await site.publish()
                #expect(run.errors.contains("published document"), "\(run.errors)")
                // The certificate was not published before it was installed.
                let refused = "an earlier document, which was replaced, are locked out"
                #expect(run.status == 1 && run.errors.contains(refused), "\(run.errors)")
                #expect(run.output.contains("Z new pins of 127.0.0.1:\(server.port)\n"))
                let both = [try Pin.publicKey(of: renewed.der), old]
                #expect(try site.document().entries.flatMap(\.publicKeyPins) == both)
                // It is remembered from now on, and can be withdrawn.
                let again = try await site.publish()
                #expect(again.lines.count == 1 && !again.output.contains("new pins"), "\(again.output)")
                #expect(again.errors.contains(refused) && !again.errors.contains("published document"))
                #expect(try site.document().entries.flatMap(\.publicKeyPins) == both)
                #expect(try await site.publish(["--overlap", "0s"]).errors.contains(refused))
                #expect(try site.document().entries.flatMap(\.publicKeyPins) == Array(both.prefix(1)))
            }
        }
    }

    @Test("A document that no client uses anymore stands for no memory", arguments: [(90_000, true), (90_001, false)])
    func staleDocument(age: Double, counts: Bool) async throws {
        try await TrustServerSite.with { site in
            let start = Date(timeIntervalSince1970: Double(site.second))
            #expect(try await site.publication(ScriptedClock { start }).run().published == 1)
            try FileManager.default.removeItem(at: site.file("data/acme.hosts.json"))
            let host = try ServerAddress.host("127.0.0.1:1")
            let end = start.addingTimeInterval(age)
            let later = ScriptedClock { end }
            let round = try site.publication([host], later) { _ in .unreachable("down") }
            #expect(try await round.run().published == (counts ? 1 : nil))
        }
    }

    @Test("Too many changes: the document of before is signed again, loudly, until a round is told to take them")
    func held() async throws {
        try await TrustServerSite.with { site in
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                try site.write("data/acme.domains", "127.0.0.1:\(server.port)\n")
                let first = try await site.publish(["--max-changes", "0"])
                #expect(first.status == 0, "\(first.errors)")
                let before = try site.document()
                let renewed = try site.root.leaf(names: [.address([127, 0, 0, 1])])
                try server.serve(renewed)
                try FileManager.default.removeItem(at: site.file("output/acme.json.signed"))
                let held = try await site.publish(["--max-changes", "0"])
                #expect(held.status == 1 && held.output.contains(" published again 1 host in "), "\(held.errors)")
                #expect(held.errors.contains("NOTHING NEW IS PUBLISHED: 1 host has changed, and 0 may: 127.0.0.1:"))
                #expect(held.errors.contains("--max-changes 1"))
                let again = try site.document()
                #expect(again.entries == before.entries && again.timestamp >= before.timestamp)

                let taken = try await site.publish(["--max-changes", "1"])
                #expect(taken.output.contains(" published 1 host in "), "\(taken.errors)")
                // Clients with the earlier document still refuse the certificate.
                #expect(taken.status == 1 && taken.errors.contains("an earlier document, which was replaced"))
                let pins = try site.document().entries.flatMap(\.publicKeyPins)
                #expect(try pins == [.publicKey(of: renewed.der), .publicKey(of: site.leaf.der)])
                // A known certificate is no change anymore, and the old one can be withdrawn at once.
                let withdrawn = try await site.publish(["--max-changes", "0", "--overlap", "0s"])
                #expect(withdrawn.output.contains(" published 1 host in "), "\(withdrawn.errors)")
                #expect(try site.document().entries.flatMap(\.publicKeyPins) == [.publicKey(of: renewed.der)])
            }
        }
    }
}
