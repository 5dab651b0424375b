import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// The statements of docs/renewals.md about `gate`, but for the ACME clients' script, which CertbotGateTests run.
@Suite("The operator's manual, certificates that renew themselves", .timeLimit(.minutes(15)))
struct OperatingGateTests {
    @Test("A list is judged with the one from before, for as long as a client may hold that")
    func list() async throws {
        try await OperatingSite.with { site in
            let (present, next) = (try site.leaf(), try site.leaf())
            try await site.run("list-first", serving: present)
            try FileManager.default.copyItem(
                at: site.folder.appending(path: "pins.json"), to: site.folder.appending(path: "pins-before.json"))
            for file in ["next-fullchain.pem", "fullchain.pem"] { try site.write(file, next.chainPEM) }
            try await site.run("list-next", serving: present)
            for (days, status, words) in [(5, 1, "Not yet: "), (8, 0, "Open: ")] as [(Double, Int32, String)] {
                let date = SystemWallClock().now.addingTimeInterval(-days * 86_400)
                    .formatted(.iso8601.year().month().day())
                let run = try await site.run("gate-list", serving: present, expecting: status) {
                    $0.replacing("2026-11-20", with: date)
                }
                #expect(run.output.hasPrefix(words), "\(run.output)\(run.errors)")
            }
        }
    }

    @Test("The job of cert-manager writes the Secret only if the gate is open")
    func secret() async throws {
        try await OperatingSite.with { site in
            let present = try site.leaf()
            try await site.run("first-pins", serving: present)
            for folder in ["next", "pins"] {
                try FileManager.default.createDirectory(
                    at: site.folder.appending(path: folder), withIntermediateDirectories: false)
            }
            try FileManager.default.moveItem(
                at: site.folder.appending(path: "bank.pins.json"),
                to: site.folder.appending(path: "pins/bank.pins.json"))
            // A cluster that takes what it gets.
            try await ExecutableScript.write(
                """
                #!/bin/sh
                case "$1" in
                    create) cat next/tls.crt next/tls.key ;;
                    apply) cat > applied ;;
                esac
                """, to: site.folder.appending(path: "tools/kubectl"))
            let applied = site.folder.appending(path: "applied")
            let pinned = try site.leaf(.existing(try site.key("backup.key")))
            for (next, status) in [(try site.leaf(), Int32(1)), (pinned, 0)] {
                try site.write("next/tls.crt", next.chainPEM)
                try site.write("next/tls.key", next.key.privateKeyPEM)
                // By a shell of its own, which stops only where the block says so.
                try await site.run("gate-secret", serving: present, expecting: status) {
                    let job = $0.replacing(" /", with: " ").replacing("=/", with: "=").replacing(
                        " --wait 30m", with: "")
                    return "cat > job <<'END'\n\(job)END\nsh job\n"
                }
                let secret = try? String(contentsOf: applied, encoding: .utf8)
                #expect(secret == (status == 0 ? next.chainPEM + next.key.privateKeyPEM : nil))
            }
        }
    }
}
