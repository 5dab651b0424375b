import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// The program itself, serving under clocks that are wrong.
@Suite(
    "serve with a wrong clock", .timeLimit(.minutes(3)),
    .needs(.faketime))
struct WrongClockTests {
    private static let challenge = ["X-Cert-Pinning-Challenge: AAECAwQFBgcICQoLDA0ODw=="]
    private static let trouble = "signing and evaluating: clock"

    /// It serves what was signed, and signs nothing.
    static func isMute(_ port: Int) async throws {
        let client = RawClient(port: port)
        let answer = try await client.get("/app/init?appName=bank", Self.challenge)
        #expect(answer.status == 503 && answer.header("X-Cert-Pinning-Signature") == nil, "\(answer.text)")
        let list = try await client.get("/lists/bank.json")
        #expect(list.status == 200 && list.header("Cache-Control") == "no-cache", "\(list.text)")
        #expect(try await client.get("/health/ready").status == 200)
        #expect(try await client.get("/health/writable").status == 503)
        #expect(try await client.get("/health/live").status == 200)
    }

    @Test(
        "Started a year ahead or back, it serves what was signed and signs nothing, until the clock is right",
        arguments: ["+366d", "-366d"])
    func started(_ shift: String) async throws {
        try await ServeSite.run { site in
            try await site.publish()
            let head = site.open.catalog.ledger.chain.head
            let server = try await ServingProcess.start(
                site, wrappedBy: WrongClock.wrapper, environment: try WrongClock.shifted(shift))
            defer { WrongClock.clean(server) }
            try await server.says(Self.trouble)
            try await Self.isMute(server.port)
            // Commands write nothing either, and say what to do.
            let command = try ServingProcess(
                WrongClock.wrapper + [
                    ServerProgram.url.path, "host", "add", "bank", "www.example.com", "--data", site.data,
                ], environment: try WrongClock.shifted(shift))
            defer { WrongClock.clean(command) }
            #expect(await command.status() == 3)
            try await command.says("resume --clock")
            #expect(await server.stop() == 0)
            _ = try await site.open.catalog.now()
            #expect(site.open.catalog.ledger.chain.head == head)

            let next = try await ServingProcess.start(site)
            try await next.says("signed again")
            #expect(try await site.clientsThatLetIn(site.shown, next.port) == World.everybody)
            await next.stop()
        }
    }

    @Test("What was signed by a clock that was ahead stops it, and a person who vouches for the clock starts it again")
    func resumed() async throws {
        try await ServeSite.run { site in
            try await site.publish()
            // Nothing shows that these are not three days without the server.
            try FileManager.default.removeItem(at: site.server.url.appending(path: "clock"))
            let ahead = try await ServingProcess.start(
                site, wrappedBy: WrongClock.wrapper, environment: try WrongClock.shifted("+3d"))
            defer { WrongClock.clean(ahead) }
            try await ahead.says("signed again")
            #expect(await ahead.stop() == 0)

            let server = try await ServingProcess.start(site)
            try await server.says(Self.trouble)
            try await Self.isMute(server.port)
            let arguments = ["resume", "--clock", "--yes", "--as", "carol", "--data", site.data]
            let command = try ServingProcess([ServerProgram.url.path] + arguments)
            try await command.says("resumed at")
            #expect(await command.status() == 0)
            try await server.says("signing and evaluating: works again")
            try await server.says("signed again")
            #expect(try await site.clientsThatLetIn(site.shown, server.port) == World.everybody)
            let entries = try await site.open.catalog.audit(after: -1, limit: 1_000).map { try AuditEntry($0) }
            #expect(entries.filter { $0.event == .resumed }.map(\.actor) == ["carol"])
            let again = try ServingProcess([ServerProgram.url.path] + arguments)
            try await again.says("nothing was written")
            #expect(await again.status() == 0)
            #expect(await server.stop() == 0)
        }
    }

    @Test(
        "A month and three months later the same server lets the next certificate be installed, and serves apps of that day"
    )
    func later() async throws {
        try await ServeSite.run { site in
            try await site.publish()
            let file = site.folder.appending(path: "next.pem")
            try Data(site.announced.chainPEM.utf8).write(to: file)
            /// Runs a command of that day, and says how it ended.
            func command(_ days: Int, _ words: String, _ arguments: String...) async throws -> Int32 {
                let process = try ServingProcess(
                    WrongClock.wrapper + [ServerProgram.url.path] + arguments + ["--data", site.data],
                    environment: try WrongClock.shifted("+\(days)d"))
                defer { WrongClock.clean(process) }
                try await process.says(words)
                return await process.status()
            }
            for days in [31, 92] {
                // The server was stopped for so long that a person has to confirm the clock.
                #expect(try await command(days, "resumed at", "resume", "--clock", "--yes") == 0)
                #expect(
                    try await command(
                        days, "ready: every client", "gate", "bank", World.host, "--certificate", file.path)
                        == 0)
                let server = try await ServingProcess.start(
                    site, wrappedBy: WrongClock.wrapper, environment: try WrongClock.shifted("+\(days)d"))
                defer { WrongClock.clean(server) }
                try await server.says("signed again")
                let clock = ManualClock(now: site.clock.now.addingTimeInterval(Double(days) * 86_400))
                let found = try await site.clientsThatLetIn(site.announced, server.port, clock: clock)
                #expect(found == World.everybody, "\(days)")
                let old = try await site.clientsThatLetIn(site.shown, server.port, clock: clock)
                #expect(old == (days < 90 ? World.everybody : []), "\(days)")
                #expect(await server.stop() == 0)
            }
        }
    }
}
