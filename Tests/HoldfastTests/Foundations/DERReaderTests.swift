import Testing

@testable import Holdfast

@Suite("DER")
struct DERReaderTests {
    private func code(_ octets: [UInt8]) -> DERError.Code? {
        var reader = DERReader(octets)
        do throws(DERError) {
            _ = try reader.next()
            return nil
        } catch {
            return error.code
        }
    }

    private func error(_ body: () throws -> Void) -> DERError? {
        do {
            try body()
            return nil
        } catch {
            return error as? DERError
        }
    }

    @Test(
        "An element is read only in the one encoding that DER has",
        arguments: [
            ([0x04, 0x00], nil), ([0x04, 0x01, 0xAA], nil), ([], .truncated), ([0x04], .truncated),
            ([0x04, 0x02, 0xAA], .truncated), ([0x30, 0x80, 0, 0], .indefiniteLength),
            ([0x1F, 0x01, 0x00], .longIdentifier), ([0x3F, 0x00], .longIdentifier), ([0xBF, 0x00], .longIdentifier),
            ([0x04, 0x81, 0x01, 0xAA], .lengthNotMinimal), ([0x04, 0x82, 0x00, 0x80], .lengthNotMinimal),
            ([0x04, 0x81], .truncated), ([0x04, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], .truncated),
            ([0x04, 0x84, 0x80, 0, 0, 0], .truncated), ([0x04, 0x84, 0x7F, 0xFF, 0xFF, 0xFF], .truncated),
            ([0x04, 0x85, 1, 0, 0, 0, 0], .lengthTooLarge), ([0x04, 0xFF], .lengthTooLarge),
            ([0x04, 0x88, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .lengthTooLarge),
        ] as [([UInt8], DERError.Code?)])
    func elements(octets: [UInt8], expected: DERError.Code?) {
        #expect(code(octets) == expected)
    }

    @Test(
        "Lengths of one, two and three octets are read where they begin to be due",
        arguments: [0x7F, 0x80, 0xFF, 0x100, 0x10000])
    func lengths(count: Int) throws {
        var reader = DERReader(HandMadeDER.element(0x04, [UInt8](repeating: 7, count: count)))
        #expect(try reader.next().content.count == count)
        #expect(reader.isAtEnd)
    }

    @Test("An element never reaches past the one around it")
    func nesting() throws {
        var outer = DERReader([0x30, 0x02, 0x04, 0x01, 0xAA])
        var inner = outer.inside(try outer.next())
        #expect(error { _ = try inner.next() } == DERError(.truncated, at: 2))
    }

    @Test("A range outside of the array is cut to what is there")
    func ranges() throws {
        #expect(DERReader([1, 2], in: 5..<9).isAtEnd)
        var reader = DERReader([0x04, 0x01, 0xAA, 0xBB], in: 0..<900)
        #expect(try reader.next(0x04).content == 2..<3)
        #expect(error { try reader.finish() } == DERError(.trailingBytes, at: 3))
        #expect(reader.nextTag == 0xBB)
    }

    @Test("An optional element that is not there moves nothing")
    func optional() throws {
        var reader = DERReader([0x04, 0x00])
        #expect(try reader.nextIfPresent(0x02)?.tag == nil)
        #expect(reader.position == 0)
        #expect(error { _ = try reader.next(0x02) } == DERError(.unexpectedTag(expected: 0x02, found: 0x04), at: 0))
        _ = try reader.next(0x04)
        #expect(try reader.nextIfPresent(0x04)?.tag == nil)
        #expect(error { _ = try reader.next(0x04) } == DERError(.truncated, at: 2))
    }
}
