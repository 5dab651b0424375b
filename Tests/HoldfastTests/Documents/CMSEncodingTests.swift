import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("BER of signed messages")
struct CMSEncodingTests {
    private func indefinite(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag, 0x80] + content + [0, 0] }

    private func code(_ octets: [UInt8]) -> DERError.Code? {
        do throws(DERError) {
            _ = try CMSEncoding.der(of: octets)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("Four octets of length are read in an integer of any width; one that cannot hold them says so")
    func lengths() {
        for (octets, narrow, wide) in [
            ([0x7F, 0xFF, 0xFF, 0xFF], 0x7FFF_FFFF, 0x7FFF_FFFF), ([0x80, 0, 0, 0], nil, 0x8000_0000),
            ([0xFF, 0xFF, 0xFF, 0xFF], nil, 0xFFFF_FFFF), ([0, 0, 1, 2], 258, 258), ([], 0, 0), ([0xFF], 255, 255),
        ] as [([UInt8], Int32?, Int64)] {
            #expect(DERLength.value(of: octets[...], as: Int32.self) == narrow)
            #expect(DERLength.value(of: octets[...], as: Int64.self) == wide)
        }
        #expect(DERLength.value(of: [0x7F, 0xFF][...], as: Int16.self) == .max)
        #expect(DERLength.value(of: [0x80, 0][...], as: Int16.self) == nil)
        #expect(DERLength.value(of: [0x80][...], as: Int8.self) == nil)
    }

    @Test("What is DER comes out as it went in")
    func unchanged() throws {
        let der = try TrustServerFixture().message().der()
        #expect(try CMSEncoding.der(of: Array(der)) == Array(der))
        let long = TestDER.sequence([TestDER.octetString([UInt8](repeating: 7, count: 70_000))])
        #expect(try CMSEncoding.der(of: long) == long)
    }

    @Test("Indefinite and long lengths become definite and short, octet strings in pieces whole")
    func rewritten() throws {
        let whole = TestDER.sequence([TestDER.octetString([1, 2, 3, 4]), TestDER.null])
        let inPieces = indefinite(0x24, [4, 1, 1] + indefinite(0x24, [4, 2, 2, 3]) + [0x24, 3, 4, 1, 4])
        #expect(try CMSEncoding.der(of: indefinite(0x30, inPieces + [5, 0])) == whole)
        let long: [UInt8] = [0x30, 0x81, 12, 4, 0x83, 0, 0, 4, 1, 2, 3, 4, 5, 0x81, 0]
        #expect(try CMSEncoding.der(of: long) == whole)
    }

    @Test(
        "What is not BER is refused",
        arguments: [
            ([], .truncated), ([0x30], .truncated), ([0x30, 0x80], .truncated), ([0x30, 0x80, 0], .truncated),
            ([0x30, 0x80, 5, 0], .truncated), ([4, 0x80, 0, 0], .indefiniteLength), ([0x30, 2, 4, 1], .truncated),
            ([0x30, 0, 0], .trailingBytes), ([0x30, 0x80, 0, 0, 0, 0], .trailingBytes), ([0x3F, 0], .longIdentifier),
            ([0x30, 0x85, 0, 0, 0, 0, 0], .lengthTooLarge), ([4, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], .truncated),
            ([0x30, 3, 4, 2, 1], .truncated), ([0x24, 2, 5, 0], .unexpectedTag(expected: 4, found: 5)),
            ([0x30, 2, 0, 0], .invalidValue("an end of contents where none is due")),
        ] as [([UInt8], DERError.Code)])
    func refused(octets: [UInt8], expected: DERError.Code) {
        #expect(code(octets) == expected)
    }

    @Test("Depth and the number of elements are bounded, in either form of length")
    func bounds() {
        for count in [17, 1_000, 100_000] {
            #expect(code([UInt8](repeating: 0, count: 2 * count).indices.map { $0 % 2 == 0 ? 0x30 : 0x80 }) != nil)
            #expect(code([UInt8](repeating: 0, count: 2 * count).indices.map { $0 % 2 == 0 ? 0x24 : 0x80 }) != nil)
        }
        let deep = (0..<17).reduce(into: [UInt8]()) { octets, _ in octets = TestDER.sequence([octets]) }
        #expect(code(deep) == .invalidValue("more than 16 levels"))
        let wide = indefinite(0x30, [UInt8](repeating: 0, count: 2 << 16).indices.map { $0 % 2 == 0 ? 5 : 0 })
        #expect(code(wide) == .invalidValue("more than 65536 elements"))
    }

    @Test("A message in indefinite lengths with its content in pieces says the same")
    func message() throws {
        let fixture = try TrustServerFixture()
        let der = Array(try fixture.message().der())
        let streamed = try Self.streamed(der)
        #expect(streamed != der)
        #expect(try CMSEncoding.der(of: streamed) == der)
        #expect(try fixture.document(Data(streamed)).entries == fixture.document(Data(der)).entries)
    }

    /// Every constructed element in indefinite length, every `octetString` in pieces of 100 bytes.
    private static func streamed(_ der: [UInt8]) throws -> [UInt8] {
        var reader = DERReader(der)
        var octets: [UInt8] = []
        while !reader.isAtEnd {
            let element = try reader.next()
            let content = Array(der[element.content])
            if element.tag & 0x20 != 0 {
                octets += [element.tag, 0x80] + (try streamed(content)) + [0, 0]
            } else if element.tag == 0x04 {
                let pieces = stride(from: 0, to: content.count, by: 100).flatMap {
                    TestDER.octetString(Array(content[$0..<min(content.count, $0 + 100)]))
                }
                octets += [0x24, 0x80] + pieces + [0, 0]
            } else {
                octets += der[element.encoded]
            }
        }
        return octets
    }
}
