import Foundation
import HoldfastTesting
import Testing

@testable import HoldfastServer

@Suite("Alarms on pages", .timeLimit(.minutes(5)))
struct HostAlarmTests {
    private static let month: Int64 = 30 * 86_400

    @Test("An alarm of long ago is quiet once nobody sees its key anymore, and not before")
    func ages() async throws {
        try await World.run { world in
            func alarms() async throws -> Int {
                let count = try await PageDesk(world).overview().needs.count { $0.kind == .alarm }
                let page = PageValue.record(
                    try await PageDesk(world).made("/apps/bank/hosts/\(World.host)").content)
                #expect(page["alarms"]?.values.count == count)
                return count
            }
            let stranger = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
            let key = Digest(of: try stranger.subjectPublicKeyInfo)
            try await world.catalog.alarm(about: key, on: world.catalogHost, of: world.app, words: "seen")
            try await world.pass(Self.month - 1)
            #expect(try await alarms() == 1)
            // It comes back before the month is over.
            try await world.see(stranger, at: "192.0.2.66", from: ["here"])
            try await world.pass(Self.month)
            #expect(try await alarms() == 1)
            try await world.pass(2)
            #expect(try await alarms() == 0)
            try await world.see(stranger, at: "192.0.2.66", from: ["here"])
            #expect(try await alarms() == 1)
        }
    }
}
