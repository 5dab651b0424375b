import Foundation
import Holdfast
import Testing

@testable import ServerFoundation
@testable import ServerImport

/// CSV as PostgreSQL writes it. `PostgresExportTests` reads what a real one wrote.
@Suite("CSV as PostgreSQL writes it")
struct CSVReaderTests {
    private func rows(
        _ text: String, limits: CSVReader.Limits = CSVReader.Limits()
    ) throws(ServerError) -> [CSVReader.Row] {
        try rows(Array(text.utf8), limits: limits)
    }

    private func rows(
        _ bytes: [UInt8], limits: CSVReader.Limits = CSVReader.Limits()
    ) throws(ServerError) -> [CSVReader.Row] {
        var reader = try CSVReader(bytes, "export", limits: limits)
        var rows: [CSVReader.Row] = []
        while let row = try reader.row() { rows.append(row) }
        return rows
    }

    private func texts(_ row: CSVReader.Row) -> [String?] {
        row.fields.map { $0.map { String(decoding: $0, as: UTF8.self) } }
    }

    /// As PostgreSQL writes them, everything in quotation marks.
    private func written(_ rows: [CSVReader.Row]) -> [UInt8] {
        var bytes: [UInt8] = []
        for row in rows {
            for (index, field) in row.fields.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                guard let field else { continue }
                bytes.append(UInt8(ascii: "\""))
                for byte in field { bytes += byte == UInt8(ascii: "\"") ? [byte, byte] : [byte] }
                bytes.append(UInt8(ascii: "\""))
            }
            bytes.append(0x0A)
        }
        return bytes
    }

    private static let sample =
        "id,text\n1,plain\n2,\"a, b\"\n3,\"she said \"\"no\"\"\"\n4,\"two\nlines\r\nthree\"\n5,\n6,\"\"\n7,\"\u{FC}\"\n"

    @Test("Quoted commas, quotation marks and line feeds are text, and null is no empty text")
    func quoting() throws {
        let rows = try rows(Self.sample)
        #expect(
            rows.map(texts) == [
                ["id", "text"], ["1", "plain"], ["2", "a, b"], ["3", "she said \"no\""], ["4", "two\nlines\r\nthree"],
                ["5", nil], ["6", ""], ["7", "\u{FC}"],
            ])
        // A line of text inside a field counts as one of the file.
        #expect(rows.map(\.line) == [1, 2, 3, 4, 5, 8, 9, 10])
        #expect(try self.rows("a,b\r\n1,2\r\n").map(texts) == [["a", "b"], ["1", "2"]])
        #expect(try self.rows("") == [])
    }

    @Test("A file that was cut off anywhere but behind a row is refused")
    func cutOff() throws {
        let bytes = Array(Self.sample.utf8)
        let all = try rows(bytes)
        var whole = 0
        for count in 0..<bytes.count {
            do throws(ServerError) {
                let read = try rows(Array(bytes.prefix(count)))
                #expect(Array(all.prefix(read.count)) == read)
                #expect(count == 0 || bytes[count - 1] == 0x0A, "\(count)")
                whole += 1
            } catch {
                #expect(error.code == .malformed && error.remedy.contains("again"), "\(error)")
            }
        }
        #expect(whole == 8)
    }

    @Test("What PostgreSQL never writes is refused, with the line and the field, and without what it says")
    func strange() throws {
        for (text, place) in [
            ("a,b\n1,se\"cret\n", "line 2, field 2"), ("a,b\n\"secret\"x,2\n", "line 2, field 1"),
            ("a\rb\n", "line 1, field 1"), ("a,b\n1,\"secret", "line 2, field 2"),
            ("a,b\n1,sec\0ret\n", "line 2, field 2"), ("a,b\n\n\"\n\",\"\0\"\n", "line 4, field 2"),
        ] {
            let error = expectError(.malformed, { try rows(text) })
            #expect(error?.subject == "export, \(place)", "\(text)")
            #expect(error?.description.contains("cret") == false)
        }
    }

    @Test("Bytes, fields and rows have limits")
    func limits() throws {
        let limits = CSVReader.Limits(bytes: 64, field: 8, fields: 4, rows: 3)
        #expect(try rows("12345678,b,c,d\n1,2,3,4\n1,2,3,4\n", limits: limits).count == 3)
        for (text, expected) in [
            ("123456789\n", "at most 8 bytes"), ("\"123456789\"\n", "at most 8 bytes"),
            ("1,2,3,4,5\n", "at most 4 fields"), ("1\n2\n3\n4\n", "at most 3 rows"),
            (String(repeating: "1\n", count: 33), "at most 64 bytes"),
        ] {
            #expect(expectError(.malformed, { try rows(text, limits: limits) })?.expected == expected)
        }
    }

    @Test("What a damaged file is read as can be written and read again, and no byte is looked at for nothing")
    func damaged() {
        let read = campaign(0xC5F, [Array(Self.sample.utf8)], count: mutants(inPartsOf: 5)) { mutant in
            let rows = try rows(mutant)
            #expect(rows.count <= mutant.filter { $0 == 0x0A }.count)
            let again = try self.rows(written(rows))
            #expect(again.map(\.fields) == rows.map(\.fields))
        }
        #expect(read > 0 && read < mutants)
    }
}
