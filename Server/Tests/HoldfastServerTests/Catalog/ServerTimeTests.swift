import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import ServerFoundation
@testable import ServerModel

/// Clocks that a test sets: the one that anyone may set, and the one that cannot be set.
private struct Machine: Sendable {
    let clock: ManualClock
    let steady: ManualClock
    let folder: URL

    init(in folder: URL) {
        self.folder = folder
        clock = ManualClock(now: Date(timeIntervalSince1970: TimeInterval(Story.now)))
        steady = ManualClock(now: Date(timeIntervalSince1970: 1_000))
    }

    var now: Int64 { Int64(clock.now.timeIntervalSince1970) }

    /// Time passes.
    func pass(_ seconds: Int64) {
        clock.advance(by: .seconds(seconds))
        steady.advance(by: .seconds(seconds))
    }

    /// Sets the clock.
    func set(_ seconds: Int64) { clock.advance(by: .seconds(seconds)) }

    /// The time of a process that starts now.
    func time(boot: String? = "one", spansStops: Bool = false) -> ServerTime {
        ServerTime(
            clock, steady: SteadyTime(boot: boot) { [steady] in Int64(steady.now.timeIntervalSince1970) },
            file: folder.appending(path: "clock"), spansStops: spansStops)
    }
}

@Suite("The clock of a server")
struct ServerTimeTests {
    private static let year: Int64 = 366 * 86_400

    @Test(
        "A clock that jumps while the server runs is not believed, and is again when it is mended",
        arguments: [year, -year, 700, -700, 86_400])
    func jumps(_ jump: Int64) async throws {
        try await withFolder { folder in
            let machine = Machine(in: folder)
            let time = machine.time()
            #expect((try? time.now(after: Story.now)) == Story.now)
            machine.pass(1_000)
            machine.set(jump)
            expectError(.clock) { try time.now(after: Story.now - 10_000) }
            machine.pass(7_200)
            expectError(.clock) { try time.now(after: Story.now - 10_000) }
            machine.set(-jump)
            #expect((try? time.now(after: Story.now)) == Story.now + 8_200)
        }
    }

    @Test("A clock that is slow, fast, or set right by some minutes is believed, but not moved away step by step")
    func drift() async throws {
        try await withFolder { folder in
            let machine = Machine(in: folder)
            let time = machine.time()
            #expect((try? time.now(after: 0)) != nil)
            for step: Int64 in [300, -300, 599, -599] {
                machine.set(step)
                #expect((try? time.now(after: 0)) != nil)
            }
            // 500 parts in a million, for a year.
            for _ in 0..<366 {
                machine.pass(86_400)
                machine.set(43)
                #expect((try? time.now(after: 0)) != nil)
            }
            let other = Machine(in: folder.appending(path: "none"))
            let crept = other.time()
            #expect((try? crept.now(after: 0)) != nil)
            var isBelieved = true
            for _ in 0..<4 {
                other.set(300)
                isBelieved = (try? crept.now(after: 0)) != nil
            }
            #expect(!isBelieved)
        }
    }

    @Test("Nothing is before what was signed last, by a second")
    func signed() async throws {
        try await withFolder { folder in
            let time = Machine(in: folder).time()
            #expect((try? time.now(after: Story.now)) != nil)
            expectError(.clock) { try time.now(after: Story.now + 1) }
            expectError(.clock) { try time.require(Story.now + 601, after: Story.now) }
            expectError(.clock) { try time.require(Story.now - 601, after: 0) }
            #expect(throws: Never.self) { try time.require(Story.now + 600, after: Story.now) }
        }
    }

    @Test(
        "A process that starts after the clock was set notices, whether or not the machine was started as well",
        arguments: [year, -year], ["one", "two"])
    func restart(_ jump: Int64, _ boot: String) async throws {
        try await withFolder { folder in
            let machine = Machine(in: folder)
            let time = machine.time()
            #expect((try? time.now(after: 0)) != nil)
            try time.note()
            machine.pass(60)
            machine.set(jump)
            let next = machine.time(boot: boot)
            expectError(.clock) { try next.now(after: 0) }
            // The process continues as soon as the clock is right, and so does a third.
            machine.set(-jump)
            #expect(try next.now(after: Story.now) == Story.now + 60)
            try next.note()
            #expect(try machine.time(boot: boot).now(after: Story.now) == Story.now + 60)
        }
    }

    @Test(
        "Small drift over a start is believed, and so is a stop of days; after weeks a person has to vouch for the clock"
    )
    func stops() async throws {
        try await withFolder { folder in
            let machine = Machine(in: folder)
            let time = machine.time()
            #expect((try? time.now(after: 0)) != nil)
            try time.note()
            machine.set(-500)
            #expect((try? machine.time(boot: "two").now(after: 0)) != nil)
            machine.set(500 + 6 * 86_400)
            #expect((try? machine.time(boot: "two").now(after: 0)) != nil)
            // On the same machine, the seconds since it started cannot be set.
            expectError(.clock) { try machine.time().now(after: 0) }
            machine.set(86_401)
            expectError(.clock) { try machine.time(boot: "two").now(after: 0) }
            expectError(.clock) { try machine.time(boot: nil).now(after: 0) }
            #expect((try? machine.time(boot: "two", spansStops: true).now(after: 0)) != nil)
            let resumed = machine.time(boot: "two")
            resumed.follow(0)
            resumed.follow(1)
            #expect((try? resumed.now(after: 0)) != nil)
            // If the machine ran all the time, no confirmation is needed.
            machine.set(-7 * 86_400 - 1)
            machine.pass(30 * 86_400)
            #expect((try? machine.time().now(after: 0)) != nil)
        }
    }

    @Test("A damaged file is no reason to believe a clock, until a person vouches for it")
    func damaged() async throws {
        try await withFolder { folder in
            let machine = Machine(in: folder)
            let time = machine.time()
            #expect((try? time.now(after: 0)) != nil)
            try time.note()
            let file = folder.appending(path: "clock")
            let bytes = try #require(try WholeFile.read(file, limit: 512))
            #expect(
                String(decoding: bytes, as: UTF8.self)
                    == "holdfast-clock-v1\n\(Story.now) 1000 one\n\(Story.now)\n")
            var generator = SeededGenerator(seed: 0xC10C)
            defer { noteCampaign(of: mutants(inPartsOf: 10)) }
            for _ in 0..<mutants(inPartsOf: 10) {
                let damaged = mutated(bytes, &generator)
                if let read = try? ClockGuard(damaged, spansStops: false) { #expect(read.bytes == damaged) }
            }
            try WholeFile.replace(file, with: Array(bytes.dropLast()))
            let next = machine.time()
            next.follow(3)
            expectError(.malformed) { try next.now(after: 0) }
            try next.note()
            #expect(try WholeFile.read(file, limit: 512) == bytes.dropLast())
            next.follow(4)
            #expect((try? next.now(after: 0)) != nil)
            try next.note()
            #expect(try WholeFile.read(file, limit: 512) == bytes)
        }
    }
}
