import Testing

@testable import HoldfastServer

@Suite("Outbox and fences")
struct OutboxRowTests {
    @Test("A document is taken, uploaded and confirmed, with a new fence at each step")
    func way() throws {
        var row = OutboxRow(dueAt: 100)
        expectError(.outOfTurn) { try row.take(at: 99, for: 10) }
        #expect(try row.take(at: 100, for: 10) == 1)
        #expect(try row.retake(1, at: 105, for: 10) == 2)
        try row.uploaded(2, at: 106)
        #expect(try row.retake(2, at: 107, for: 10) == 3)
        try row.confirmed(3, at: 108)
        #expect(row.state == .confirmed)
        #expect(!row.isDue(at: .max))
        expectError(.outOfTurn) { try row.failed(3, at: 109) }
    }

    @Test("An uploader that was stopped cannot undo what its successor did")
    func stopped() throws {
        var row = OutboxRow(dueAt: 0)
        let first = try row.take(at: 0, for: 10)
        expectError(.outOfTurn) { try row.take(at: 9, for: 10) }
        let second = try row.take(at: 10, for: 10)
        #expect(second > first)
        try row.uploaded(second, at: 11)
        for step in 0..<4 {
            let before = row
            expectError(.outOfTurn) {
                switch step {
                case 0: try row.uploaded(first, at: 12)
                case 1: try row.failed(first, at: 12)
                case 2: try row.confirmed(first, at: 12)
                default: _ = try row.retake(first, at: 12, for: 10)
                }
            }
            #expect(row == before)
        }
        try row.confirmed(second, at: 12)
    }

    @Test("Nobody acts after their time, even if nobody else has taken the row")
    func late() throws {
        var row = OutboxRow(dueAt: 0)
        let fence = try row.take(at: 0, for: 10)
        expectError(.outOfTurn) { try row.uploaded(fence, at: 10) }
        expectError(.outOfTurn) { _ = try row.retake(fence, at: 10, for: 10) }
        for span in [0, -1, OutboxRow.longestHold + 1] { expectError(.outOfTurn) { try row.take(at: 20, for: span) } }
    }

    @Test("Nothing is confirmed that was not uploaded, and a superseded document never goes out")
    func order() throws {
        var row = OutboxRow(dueAt: 0)
        let fence = try row.take(at: 0, for: 10)
        expectError(.outOfTurn) { try row.confirmed(fence, at: 1) }
        row.supersede()
        expectError(.outOfTurn) { try row.uploaded(fence, at: 1) }
        expectError(.outOfTurn) { _ = try row.retake(fence, at: 1, for: 10) }
        expectError(.outOfTurn) { try row.take(at: 1_000, for: 10) }
    }

    @Test("After a failure the pause doubles, up to a quarter of an hour")
    func pauses() throws {
        var row = OutboxRow(dueAt: 0)
        var pauses: [Int64] = []
        for _ in 0..<10 {
            let now = row.dueAt
            let fence = try row.take(at: now, for: 10)
            try row.failed(fence, at: now + 1)
            pauses.append(row.dueAt - now - 1)
        }
        #expect(pauses == [5, 10, 20, 40, 80, 160, 320, 640, 900, 900])
    }

    @Test("In whatever order steps come, a fence is used by one holder, and a confirmed document stays")
    func campaign() {
        var generator = SeededGenerator(seed: 6)
        defer { noteCampaign(of: mutants(inPartsOf: 10)) }
        for _ in 0..<mutants(inPartsOf: 10) {
            var row = OutboxRow(dueAt: 0)
            var (now, held, wasConfirmed): (Int64, [Int64], Bool) = (0, [], false)
            for _ in 0..<40 {
                now += Int64.random(in: 0...8, using: &generator)
                let before = row
                let fence = held.randomElement(using: &generator) ?? 0
                do throws(ServerError) {
                    switch Int.random(in: 0..<6, using: &generator) {
                    case 0: held.append(try row.take(at: now, for: 10))
                    case 1: held.append(try row.retake(fence, at: now, for: 10))
                    case 2: try row.uploaded(fence, at: now)
                    case 3: try row.confirmed(fence, at: now)
                    case 4: try row.failed(fence, at: now)
                    default: if Int.random(in: 0..<20, using: &generator) == 0 { row.supersede() }
                    }
                } catch {
                    #expect(row == before, "a refused step changes nothing")
                }
                #expect(row.fence >= before.fence)
                if wasConfirmed { #expect(row.state == .confirmed) }
                wasConfirmed = row.state == .confirmed
            }
            #expect(Set(held).count == held.count)
        }
    }
}
