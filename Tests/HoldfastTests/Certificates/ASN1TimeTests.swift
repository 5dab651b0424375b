import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Times of certificates, RFC 5280 4.1.2.5")
struct ASN1TimeTests {
    private func read(_ tag: UInt8, _ text: String) throws(DERError) -> Int64 {
        let bytes = HandMadeDER.element(tag, Array(text.utf8))
        var reader = DERReader(bytes)
        return try ASN1Time.read(try reader.next(), of: bytes)
    }

    @Test(
        "Both forms are read to the second",
        arguments: [
            (0x17, "700101000000Z", 0), (0x17, "691231235959Z", -1), (0x17, "491231235959Z", 2_524_607_999),
            (0x17, "500101000000Z", -631_152_000), (0x17, "991231235959Z", 946_684_799),
            (0x17, "000101000000Z", 946_684_800), (0x17, "000229000000Z", 951_782_400),
            (0x18, "20500101000000Z", 2_524_608_000), (0x18, "20491231235959Z", 2_524_607_999),
            (0x18, "20000229000000Z", 951_782_400), (0x18, "21000228235959Z", 4_107_542_399),
            (0x18, "21000301000000Z", 4_107_542_400), (0x18, "99991231235959Z", 253_402_300_799),
            (0x18, "19491231235959Z", -631_152_001), (0x18, "00010101000000Z", -62_135_596_800),
        ] as [(UInt8, String, Int64)])
    func good(tag: UInt8, text: String, seconds: Int64) throws {
        #expect(try read(tag, text) == seconds)
    }

    @Test(
        "Nothing else is a time",
        arguments: [
            (0x17, ""), (0x17, "Z"), (0x17, "7001010000Z"), (0x17, "700101000060Z"), (0x17, "700101006000Z"),
            (0x17, "700101240000Z"), (0x17, "700132000000Z"), (0x17, "700100000000Z"), (0x17, "701301000000Z"),
            (0x17, "700001000000Z"), (0x17, "700230000000Z"), (0x17, "690229000000Z"), (0x17, "7001010000000"),
            (0x17, "700101000000z"), (0x17, "7001010000+00"), (0x17, "700101000000+0000"), (0x17, "7O0101000000Z"),
            (0x17, "-70101000000Z"), (0x17, "70 101000000Z"), (0x17, "20700101000000Z"), (0x17, "70010100000:Z"),
            (0x18, "700101000000Z"), (0x18, "21000229000000Z"), (0x18, "20500101000000.5Z"), (0x18, "20500101000000"),
            (0x18, "20500101000000+0100"), (0x18, "2050010100000\u{0}"), (0x18, "20500431000000Z"),
            (0x04, "700101000000Z"), (0x97, "700101000000Z"),
        ] as [(UInt8, String)])
    func bad(tag: UInt8, text: String) {
        #expect(throws: DERError.self) { try read(tag, text) }
    }

    @Test("Every day of four centuries reads as Foundation's calendar has it")
    func calendar() throws {
        var utc = Calendar(identifier: .gregorian)
        utc.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        var generator = SplitMix64(seed: 7)
        for _ in 0..<300 {
            let day = Double(Int.random(in: -7_305..<146_097, using: &generator))
            let date = Date(timeIntervalSince1970: day * 86_400)
            let parts = utc.dateComponents([.year, .month, .day], from: date)
            func padded(_ number: Int?, _ width: Int) -> String {
                let digits = String(number ?? 0)
                return String(repeating: "0", count: width - digits.count) + digits
            }
            let text = "\(padded(parts.year, 4))\(padded(parts.month, 2))\(padded(parts.day, 2))000000Z"
            #expect(try read(0x18, text) == Int64(day) * 86_400, "\(text)")
        }
    }
}
