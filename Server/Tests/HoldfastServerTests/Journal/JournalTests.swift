import Foundation
import Testing

@testable import HoldfastServer

@Suite("The journal of an outage")
struct JournalTests {
    private static let secret = SealedKeyTests.secret()
    private static let origin = Journal.Origin(
        server: Story.server, head: AuditHead(count: 12, digest: Digest(of: "head".utf8)))
    private static let time: Int64 = 1_764_072_000
    private static let list = "trust/gcx.json.signed"
    private static let canary = "trust/gcx-canary.json.signed"

    private static func document(_ text: String, _ end: Int64, _ places: (String, Int64)...) -> JournalRecord.Document {
        JournalRecord.Document(
            places: places.map { JournalRecord.Place(path: $0.0, version: $0.1) }, octets: Array(text.utf8),
            end: time + end)
    }

    private static func records() throws -> [JournalRecord] {
        let (bank, shop) = (try AppName("bank"), try AppName("shop"))
        return [
            JournalRecord(
                app: bank, generation: 3, time: time, documents: [document("first", 600, (list, 12), (canary, 4))]),
            JournalRecord(
                app: shop, generation: 1, time: time,
                documents: [
                    document("timestamp", 1_209_600, ("repo/shop/metadata/timestamp.json", 2)),
                    document("bundle", 1_209_600, ("repo/shop/bundle.json", 2)),
                ]),
            JournalRecord(
                app: bank, generation: 3, time: time + 300,
                documents: [document("second", 900, (list, 13), (canary, 5))]),
        ]
    }

    /// The lines of a journal, the first one first.
    static func lines(_ compacts: Bool = false) throws -> [[UInt8]] {
        var (journal, line) = Journal.begun(origin, with: secret)
        var lines = [line]
        for record in try records() {
            line = try journal.append(record, with: secret)
            lines.append(line)
        }
        guard compacts else { return lines }
        let octets = try journal.compacted(with: secret).octets
        return octets.split(separator: 0x0A).map { Array($0) + [0x0A] }
    }

    @Test("docs/vectors/server-journal.json is what this program writes")
    func vector() throws {
        let lines = try Self.lines(true)
        let accepted = [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3]]
        let refused = [[1], [1, 0], [0, 2], [0, 1, 3], [0, 2, 1], [0, 1, 1], [0, 0, 1], [0, 1, 2, 3, 3]]
        for indices in accepted {
            let journal = try Journal(indices.flatMap { lines[$0] }, with: Self.secret)
            #expect(journal.records.count == indices.count - 1 && journal.origin == Self.origin && !journal.isTorn)
        }
        for indices in refused {
            expectError(.brokenChain) { try Journal(indices.flatMap { lines[$0] }, with: Self.secret) }
        }
        try Vectors.expect(
            "server-journal.json",
            [
                "format": "The lines of a journal without their line feeds, and lists of their indices. "
                    + "Server/README.md says how they are chained.",
                "secretFile": String(decoding: Self.secret.fileContent, as: UTF8.self),
                "lines": lines.map { String(decoding: $0.dropLast(), as: UTF8.self) }, "accepted": accepted,
                "refused": refused,
            ])
    }

    @Test("What was written is read again, and what is replaced is left out without changing what was signed")
    func round() throws {
        let (records, lines) = (try Self.records(), try Self.lines())
        let whole = try Journal(lines.flatMap(\.self), with: Self.secret)
        #expect(whole.records == records && whole.length == lines.joined().count)
        #expect(whole.newest[Self.list] == 13 && whole.newest["repo/shop/bundle.json"] == 2)
        #expect(whole.pending(after: nil).count == 3)
        #expect(whole.pending(after: JournalMark(head: Self.origin.head, count: 2)) == records[2...])
        let other = AuditHead(count: 13, digest: Digest(of: [13]))
        #expect(whole.pending(after: JournalMark(head: other, count: 2)).count == 3)
        let compacted = try Journal(Self.lines(true).flatMap(\.self), with: Self.secret)
        #expect(compacted.mark == whole.mark && compacted.newest == whole.newest)
        #expect(compacted.records[0].documents.map(\.octets) == [nil])
        #expect(compacted.records[1...] == records[1...])
        #expect(compacted.records[0].documents.map(\.digest) == records[0].documents.map(\.digest))
    }

    @Test("A line that was cut off was never used; everything before it counts, wherever it was cut")
    func torn() throws {
        let lines = try Self.lines()
        let whole = lines.flatMap(\.self)
        for length in lines[0].count..<whole.count {
            var end = 0
            let count = lines.prefix { line in
                end += line.count
                return end <= length
            }.count
            for reserved in [0, 64] {
                let file = Array(whole[..<length]) + [UInt8](repeating: 0, count: reserved)
                let journal = try Journal(file, with: Self.secret)
                #expect(journal.records.count == count - 1)
                #expect(journal.length == lines.prefix(count).joined().count)
                #expect(journal.isTorn == (journal.length < length))
            }
        }
        for length in 0..<lines[0].count { #expect(!Journal.hasBegun(Array(whole[..<length]))) }
    }

    @Test("No octet of a line can be changed, and nobody without the secret writes one")
    func changed() throws {
        let whole = try Self.lines().flatMap(\.self)
        for index in whole.indices {
            var changed = whole
            changed[index] ^= index % 2 == 0 ? 0x01 : 0x80
            do throws(ServerError) {
                let journal = try Journal(changed, with: Self.secret)
                // Without its end the last line is none.
                #expect(index == whole.indices.last && journal.records.count == 2, "\(index)")
            } catch {
                #expect([.brokenChain, .secretFile].contains(error.code), "\(index): \(error)")
            }
        }
        expectError(.secretFile) { try Journal(whole, with: SealedKeyTests.secret(2)) }
        // Somebody else's lines, said to be under this secret.
        var (forged, octets) = Journal.begun(Self.origin, with: SealedKeyTests.secret(2))
        octets += try forged.append(Self.records()[0], with: SealedKeyTests.secret(2))
        let ids = [SealedKeyTests.secret(2), Self.secret].map { Hex.encode($0.id) }
        let renamed = String(decoding: octets, as: UTF8.self).replacing(ids[0], with: ids[1])
        expectError(.brokenChain) { try Journal(Array(renamed.utf8), with: Self.secret) }
    }

    @Test("A damaged journal is a beginning of what was written, or none")
    func damaged() throws {
        let (records, whole) = (try Self.records(), try Self.lines().flatMap(\.self))
        let read = campaign(0x10C5, [whole, whole + [0, 0, 0]], count: mutants(inPartsOf: 5)) { mutant in
            guard Journal.hasBegun(mutant) else { return }
            let journal = try Journal(mutant, with: Self.secret)
            #expect(journal.records == Array(records.prefix(journal.records.count)))
            #expect(journal.origin == Self.origin && mutant.starts(with: whole.prefix(journal.length)))
        }
        #expect(read > 0)
    }

    // MARK: The file

    private func append(_ record: JournalRecord, _ file: JournalFile) throws {
        try file.append(record, to: file.read(with: Self.secret, entered: nil), from: Self.origin, with: Self.secret)
    }

    private func waits(_ file: JournalFile, _ entered: JournalMark? = nil) throws -> Bool {
        try file.waits(entered: entered)
    }

    @Test("A file has its rounds when it is opened again, with space reserved or without, and after a line was cut off")
    func file() async throws {
        for isReserved in [true, false] {
            try await withFolder { folder in
                let url = folder.appending(path: "journal")
                let records = try Self.records()
                #expect(try !waits(JournalFile(url)))
                if isReserved { JournalFile(url).reserve() }
                #expect(try !waits(JournalFile(url)))
                try append(records[0], JournalFile(url))
                try append(records[1], JournalFile(url))
                let good = try #require(try JournalFile(url).read(with: Self.secret, entered: nil))
                #expect(good.records == Array(records[..<2]))
                // A process that was killed in the middle of the next, whose end had reached the disk and its middle not.
                var octets = try Array(Data(contentsOf: url))
                octets.replaceSubrange(
                    good.length..<min(octets.count, good.length + 9), with: Array("0123456789".utf8) + [0, 0] + [0x0A])
                try Data(octets).write(to: url)
                #expect(try JournalFile(url).read(with: Self.secret, entered: nil)?.isTorn == true)
                try append(records[2], JournalFile(url))
                #expect(try JournalFile(url).read(with: Self.secret, entered: nil)?.records == records)
                #expect(try waits(JournalFile(url), good.mark))
                try JournalFile(url).clear()
                #expect(try !waits(JournalFile(url)))
                #expect(try JournalFile(url).read(with: Self.secret, entered: nil) == nil)
            }
        }
    }

    @Test("A file that loses rounds while the process runs is refused, unless history has them")
    func lost() async throws {
        try await withFolder { folder in
            let file = JournalFile(folder.appending(path: "journal"))
            for record in try Self.records() { try append(record, file) }
            let lines = try Self.lines()
            for left in [[], lines[0], lines[..<3].flatMap(\.self)] {
                try Data(left).write(to: file.url)
                #expect(try waits(file))
                expectError(.brokenChain) { try file.read(with: Self.secret, entered: nil) }
            }
            let entered = JournalMark(head: Self.origin.head, count: 3)
            try Data().write(to: file.url)
            #expect(try file.read(with: Self.secret, entered: entered) == nil)
            #expect(try !waits(file))
        }
    }

    @Test("A journal that has grown keeps only the octets that count, and every version with its digest")
    func compaction() async throws {
        try await withFolder { folder in
            let file = JournalFile(folder.appending(path: "journal"), roomy: 8_000)
            let text = String(repeating: "x", count: 1_000)
            var sizes: [Int] = []
            for number in 1...9 as ClosedRange<Int64> {
                let document = Self.document("\(number)\(text)", 600, (Self.list, number))
                try append(
                    JournalRecord(app: AppName("bank"), generation: 1, time: Self.time, documents: [document]), file)
                sizes.append(try #require(try file.read(with: Self.secret, entered: nil)).length)
            }
            let journal = try #require(try JournalFile(file.url).read(with: Self.secret, entered: nil))
            #expect(zip(sizes, sizes.dropFirst()).contains { $1 < $0 }, "\(sizes)")
            #expect(journal.records.flatMap(\.documents).flatMap(\.places).map(\.version) == Array(1...9))
            #expect(journal.records.last?.documents.first?.octets?.count == 1_001)
            #expect(Set(journal.records.flatMap(\.documents).map(\.digest)).count == 9)
        }
    }
}
