import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl rollover", .timeLimit(.minutes(15)))
struct RolloverCommandTests {
    private struct Line: Decodable {
        let host: String
        let port: Int
        let step: String
        let date: String?
        let why: String?
        let action: String?
        let pins: [String]?
        let servers: [String]?
        let blocking: [Clients]?
        let premises: [String]?
        let error: String?

        struct Clients: Decodable {
            let document: String
        }
    }

    private static func keyPin(
        _ certificate: TestCertificate, _ state: PinFile.KeyPin.State = .active
    ) throws -> PinFile.KeyPin {
        try PinFile.KeyPin(.publicKey(of: certificate.der), state: state)
    }

    @Test("A key is rolled over step by step: backup, wait, deploy, remove, and nobody is locked out on the way")
    func pinFile() async throws {
        try await SigningSite.with { site in
            let (old, next) = (try site.leaf("old.pem"), try site.leaf("next.pem"))
            let now = SystemWallClock().now
            try await withLoopbackTLSServer(serving: old) { server in
                func step(
                    _ pins: [PinFile.KeyPin], issuedAt: Date? = nil, _ more: [String] = [], status: Int32 = 0
                ) async throws -> Line {
                    let file = try PinFile(
                        issuedAt: issuedAt, refresh: PinFile.Refresh(after: 86_400),
                        hosts: [PinFile.Host(HostPattern(SigningSite.name), pins: pins)])
                    try site.write("bank.pins.json", String(decoding: file.json, as: UTF8.self))
                    let run = try await site.run(
                        [
                            "rollover", "--pins", "bank.pins.json", "--ca", "root.pem", "--connect-to",
                            "127.0.0.1:\(server.port)", "--timeout", "60s", "--json",
                        ] + more)
                    #expect(run.status == status, "\(run.output)\(run.errors)")
                    return try run.json(Line.self)
                }
                let first = try await step([Self.keyPin(old)])
                #expect(first.step == "addBackup" && first.action?.contains("keygen --tls www.example.com") == true)
                let nothing = try Pin(subject: .publicKey, digest: [UInt8](repeating: 0, count: 32))
                let placeholder = try await step([Self.keyPin(old), PinFile.KeyPin(nothing, state: .backup)])
                #expect(placeholder.step == "addBackup", "a placeholder is no backup")
                let missing = try await step([Self.keyPin(old)], ["--next", "next.pem"])
                #expect(try missing.step == "publishNext" && missing.pins == [Self.keyPin(next).pin.description])
                let both = try [Self.keyPin(old, .retiring), Self.keyPin(next, .backup)]
                let fresh = try await step(both, issuedAt: now)
                #expect(fresh.step == "wait" && fresh.date == now.addingTimeInterval(86_400).formatted(.iso8601))
                let shipped = try await step(both, issuedAt: now.addingTimeInterval(-90_000), ["--staleness", "90d"])
                #expect(shipped.step == "wait")
                let ready = try await step(both, issuedAt: now.addingTimeInterval(-90_000))
                #expect(try ready.step == "deploy" && ready.pins == [Self.keyPin(next).pin.description])
                #expect(ready.servers?.count == 1)
                // The premises name what was not stated.
                #expect(ready.premises?.contains { $0.contains("it was issued then, and nobody says") } == true)
                // An earlier document that has the next key already, or none, needs no wait; one that lacks it does.
                for (earlier, expected) in [(both, "deploy"), ([try Self.keyPin(old)], "wait")] {
                    let file = try PinFile(hosts: [PinFile.Host(HostPattern(SigningSite.name), pins: earlier)])
                    try site.write("before.pins.json", String(decoding: file.json, as: UTF8.self))
                    let replaced = "before.pins.json@\(Int64(now.timeIntervalSince1970))"
                    let known = try await step(both, issuedAt: now, ["--replaced", replaced])
                    #expect(known.step == expected)
                    #expect(known.premises?.contains { $0.contains("before.pins.json, replaced") } == true)
                    #expect(known.premises?.contains("clients ask at least every 1d") == true)
                    #expect(known.premises?.contains { $0.contains("it replaced another then") } == true)
                    #expect(known.premises?.contains { $0.hasPrefix("nobody holds what before.pins.json") } == true)
                    // A version of the app uses its pins for an unknown time: if they lack the next key, the change
                    // cannot be finished.
                    let carried = try await step(
                        both, issuedAt: now, ["--first", "--shipped", "1.0=before.pins.json"],
                        status: expected == "wait" ? 1 : 0)
                    #expect(carried.step == expected && carried.date == nil)
                    #expect((carried.blocking?.map(\.document) == nil) == (expected != "wait"))
                }
                #expect(try await step(both, issuedAt: now, ["--first"]).step == "deploy")

                try server.serve(next)
                let spare = try Self.keyPin(site.leaf("spare.pem"), .backup)
                let gone = try await step(both + [spare])
                #expect(try gone.step == "remove" && gone.pins == [Self.keyPin(old).pin.description])
                #expect(try await step([Self.keyPin(next), spare]).step == "nothing")
                let refused = try await step([Self.keyPin(old), spare], status: 1)
                #expect(refused.step == "letClientsIn" && refused.why?.contains("no published pin") == true)
            }
        }
    }

    @Test("A list: the next certificate is signed in time, deployed a week later, and the old entry taken out")
    func list() async throws {
        try await SigningSite.with { site in
            let day: TimeInterval = 86_400
            let now = SystemWallClock().now
            let old = try site.leaf("old.pem") { $0.notAfter = .days(40) }
            let next = try site.leaf("next.pem") { $0.notAfter = .days(90) }
            func entry(_ certificate: TestCertificate, days: Double) throws -> FingerprintEntry {
                try FingerprintEntry(
                    name: SigningSite.name, pin: .certificate(certificate.der),
                    expires: Int64(now.timeIntervalSince1970 + days * day))
            }
            try await withLoopbackTLSServer(serving: old) { server in
                func run(
                    _ entries: [FingerprintEntry], _ more: [String] = [], builds: [String] = ["--no-shipped-pins"]
                ) async throws -> CommandRun {
                    let list = try PinListDraft(entries).signed(by: site.key)
                    try site.write("pins.json", String(decoding: list, as: UTF8.self))
                    return try await site.run(
                        [
                            "rollover", "--list", "pins.json", "--public-key", site.publicKey, "--ca", "root.pem",
                            "--connect-to",
                            "127.0.0.1:\(server.port)", "--timeout", "60s",
                        ] + builds + more)
                }
                let alone = try await run([entry(old, days: 40)], ["--json"]).json(Line.self)
                #expect(alone.step == "addBackup" && alone.action?.contains("holdfastctl sign next.pem") == true)
                let end = now.addingTimeInterval(33 * day)
                let date = try Date(#require(alone.date), strategy: .iso8601)
                #expect(abs(date.timeIntervalSince(end)) < 900)
                let both = try [entry(old, days: 40), entry(next, days: 90)]
                #expect(try await run(both, ["--next", "next.pem", "--json"]).json(Line.self).step == "wait")
                // If the builds in the field are not stated, there is a step, but it is unknown whether all get in.
                let unsaid = try await run(both, ["--next", "next.pem"], builds: [])
                #expect(unsaid.status == 3 && unsaid.output.contains("443: wait"), "\(unsaid.output)")
                #expect(unsaid.output.contains("  but app versions unknown: "), "\(unsaid.output)")
                #expect(try await run(both, ["--shipped", "7.4"], builds: []).status == 0)
                let published = String(Int64(now.timeIntervalSince1970 - 8 * day))
                let ready = try await run(both, ["--next", "next.pem", "--published", published])
                #expect(
                    ready.status == 0 && ready.output.contains("www.example.com:443: deploy the next certificate by"))
                #expect(ready.output.contains("  why every client has its pin"))
                #expect(ready.output.contains("  pin \(Pin.certificate(next.der))"))
                try server.serve(next)
                // Which of the two was served before, the list does not say.
                #expect(try await run(both, ["--json"]).json(Line.self).step != "remove")
                let named = try await run(both, ["--retiring", "old.pem", "--json"]).json(Line.self)
                #expect(named.step == "remove")
                // The command that it prints performs the step.
                let action = try #require(named.action).replacing("signer.pub", with: site.publicKey)
                let removal = try await CommandRun.shell(
                    action.replacing("holdfastctl", with: "\"$HOLDFASTCTL\"")
                        + " --no-shipped-pins --ca root.pem --connect-to 127.0.0.1:\(server.port) --timeout 60s",
                    in: site.folder)
                #expect(removal.status == 0, "\(removal.errors)")
                #expect(try site.entries().map(\.pin) == [.certificate(next.der)])
            }
        }
    }

    @Test("What cannot be asked is not judged: a server that is down, a pattern, a document that does not verify")
    func unknown() async throws {
        try await SigningSite.with { site in
            let leaf = try site.leaf("leaf.pem")
            let file = try PinFile(
                hosts: [
                    PinFile.Host(HostPattern("*.example.com"), pins: [Self.keyPin(leaf)]),
                    .retired(HostPattern("old.example.org")),
                ])
            try site.write("bank.pins.json", String(decoding: file.json, as: UTF8.self))
            let arguments = ["rollover", "--pins", "bank.pins.json", "--ca", "root.pem", "--connect-to", "127.0.0.1:1"]
            let pattern = try await site.run(arguments)
            // Nothing was asked, so nothing is known.
            #expect(pattern.status == 3 && pattern.errors.contains("*.example.com names no host"))
            let down = try await site.run(arguments + ["www.example.com", "--json"])
            #expect(try down.status == 3 && down.json(Line.self).step == "unknown", "\(down.output)\(down.errors)")
            #expect(try down.json(Line.self).error?.contains("refused") == true)
            let foreign = try await site.run(arguments + ["www.example.net"])
            #expect(foreign.status == 1 && foreign.errors.contains("no pins of www.example.net"))
            let retired = try await site.run(arguments + ["old.example.org"])
            #expect(retired.status == 1)
            let noList = try await site.run([
                "rollover", "--list", "bank.pins.json", "--public-key", site.publicKey, "--ca", "root.pem",
            ])
            #expect(noList.status == 1 && noList.errors.contains("bank.pins.json"), "\(noList.errors)")
            let csr = try await site.run(["keygen", "--tls", "www.example.com", "-o", "n.key", "--no-password"])
            #expect(csr.status == 0)
            try site.list([("www.example.com", "a", 30)])
            let request = try await site.run([
                "rollover", "--list", "pins.json", "--public-key", site.publicKey, "--next", "n.csr", "--ca",
                "root.pem",
            ])
            #expect(request.status == 2 && request.errors.contains("trust servers pin certificates"))
        }
    }
}
