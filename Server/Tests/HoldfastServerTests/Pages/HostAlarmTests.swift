import Foundation
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

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
            try await world.pass(1)
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            try await world.pass(Self.month - 2)
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

    @Test("An alarm that nobody has answered is never quiet, and a key that is seen again later is told of again")
    func unanswered() async throws {
        try await World.run { world in
            let key = Digest(of: [7])
            func raise() async throws -> Bool {
                let raised = try await world.catalog.alarm(
                    about: key, on: world.catalogHost, of: world.app, words: "seen")
                return raised != nil
            }
            func notices() -> [Notice] {
                var finder = NoticeFinder(Story.server)
                return finder.notices(world.catalog.ledger, world.publisher.live.current, at: nil)
                    .filter { $0.kind == .alarm }
            }
            #expect(try await raise())
            let first = notices()
            #expect(first.count == 1 && !String(decoding: first[0].bytes, as: UTF8.self).contains("raised"))
            try await world.pass(Self.month)
            #expect(try await !raise() && notices() == first)
            try await world.pass(Self.month)
            let needs = try await PageDesk(world).overview().needs
            #expect(needs.count { $0.kind == .alarm } == 1)
            #expect(try await raise())
            let second = notices()
            #expect(second.count == 1 && second != first && second.first?.id != first.first?.id)
            #expect(try await !raise() && notices() == second)
        }
    }

    @Test("Alarms whose keys are published by now take no place on the overview")
    func published() async throws {
        try await World.run { world in
            for number in 0..<HostDigests.maximumCount {
                let host = try CatalogHost(name: "host-\(number).example.com")
                try await world.catalog.alarm(about: Digest(of: [7]), on: host, of: world.app, words: "seen")
            }
            try await world.pass(1)
            let key = Digest(of: try world.shown.subjectPublicKeyInfo)
            try await world.catalog.alarm(about: key, on: world.catalogHost, of: world.app, words: "seen")
            func others() async throws -> [String] {
                try await PageDesk(world).overview().needs.map(\.words).filter { $0.contains("more host") }
            }
            #expect(try await others() == ["And 1 more host with alarms: the audit has them."])
            let change = try await world.propose(
                world.draft { $0.formats = World.fewFormats }, forcing: [.canary]
            ).change
            try await world.approve(change)
            #expect(try await world.publisher.publish(change) == .published(generation: 1))
            try await world.everybodyFollows(isThorough: false)
            #expect(try await others() == [])
        }
    }
}
