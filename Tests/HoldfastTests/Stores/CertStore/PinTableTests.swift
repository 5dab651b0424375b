import Foundation
import Testing

@testable import Holdfast

@Suite("The table of pins")
struct PinTableTests {
    private func entry(_ name: String, _ fingerprint: UInt8, _ expires: Int64) throws -> FingerprintEntry {
        try FingerprintEntry(
            name: name, pin: Pin(subject: .certificate, digest: Data.fingerprint(fingerprint)), expires: expires)
    }

    @Test("Entries are sorted by name, of one name the latest expiry first")
    func order() throws {
        let table = PinTable([
            try entry("b", 1, 5), try entry("a", 2, 7), try entry("b", 3, 9), try entry("a", 4, 8),
            try entry("B", 5, 6),
        ])
        #expect(table.entries.map { "\(table.name(of: $0)) \($0.end)" } == ["a 9", "a 8", "b 10", "B 7", "b 6"])
        #expect(table.entries(named: "b").map(\.end) == [10, 7, 6])
        #expect(table.entries(named: "B").map(\.end) == [10, 7, 6])
        #expect(table.entries(named: "B").filter { table.isLiteralName($0, "B") }.map(\.end) == [7])
    }

    @Test("A name that is not there has no entries, in a table of any size")
    func absence() throws {
        #expect(PinTable.empty.entries(named: "a").isEmpty)
        for count in 1...40 {
            let table = PinTable(try (0..<count).map { try entry("h\($0)", 1, 5) })
            #expect(table.entries(named: "h\(count)").isEmpty && table.entries(named: "").isEmpty)
            for index in 0..<count { #expect(table.entries(named: "h\(index)").count == 1) }
        }
    }

    @Test("Names that Unicode takes for one are two, each with all of its entries")
    func canonicalEquivalents() throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        let table = PinTable([
            try entry(composed, 1, 50), try entry(decomposed, 2, 40), try entry(composed, 3, 30),
            try entry(decomposed, 4, 20),
        ])
        #expect(table.entries(named: composed).map(\.end) == [51, 31])
        #expect(table.entries(named: decomposed).map(\.end) == [41, 21])
        #expect(table.entries.map { Array(table.name(of: $0).utf8).count } == [6, 6, 5, 5])
        #expect(table.soonestEnd(at: 1) == 41)
        let other = PinTable([try entry(composed, 1, 50)])
        #expect(table.nameLost(in: other, at: 1).map { Array($0.utf8) } == Array(decomposed.utf8))
    }

    @Test("What expires soonest is the latest entry of a name; names that have expired do not count")
    func soonest() throws {
        let table = PinTable([
            try entry("a", 1, 10), try entry("a", 2, 50), try entry("b", 3, 40), try entry("c", 4, 5),
        ])
        #expect(table.soonestEnd(at: 6) == 41 && table.soonestEnd(at: 5) == 6)
        #expect(table.soonestEnd(at: 41) == 51 && table.soonestEnd(at: 51) == nil)
        #expect(table.hasUsableEntries(at: 50) && !table.hasUsableEntries(at: 51))
    }

    @Test("An entry counts to the second of its expiry and not after")
    func expiry() throws {
        let table = PinTable([try entry("a", 1, 10)])
        #expect(
            table.entries.map { $0.isUsable(at: 10) } == [true] && table.entries.map { $0.isUsable(at: 11) } == [false])
    }

    @Test("100,000 entries take at most 200 bytes each with their names, and every name is found")
    func memory() throws {
        let table = PinTable(try (0..<100_000).map { try entry("host-\($0).service.example.com", 1, Int64($0)) })
        #expect(table.byteCount < 200 * table.count)
        for index in stride(from: 0, to: 100_000, by: 997) {
            #expect(table.entries(named: "HOST-\(index).service.example.com").map(\.end) == [Int64(index) + 1])
        }
    }
}
