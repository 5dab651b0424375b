import Testing

@testable import ServerFoundation

@Suite("Times as text")
struct UTCTextTests {
    @Test(
        "Times are written and read to the second, leap days included",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2000-02-29T23:59:59Z", 951_868_799), ("2026-11-24T12:00:00Z", 1_795_521_600),
            ("2100-02-28T00:00:00Z", 4_107_456_000), ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] as [(String, Int64)])
    func known(_ text: String, _ seconds: Int64) {
        #expect(UTCText.encode(seconds) == text)
        #expect(UTCText.decode(text.utf8) == seconds)
    }

    @Test("Every day of four centuries is read as it was written")
    func days() {
        for day in stride(from: Int64(0), to: 146_097, by: 1) {
            let seconds = day * 86_400 + 3_661
            #expect(UTCText.encode(seconds).flatMap { UTCText.decode($0.utf8) } == seconds)
        }
    }

    @Test(
        "Other spellings and days that do not exist are refused",
        arguments: [
            "2026-11-24T12:00:00", "2026-11-24T12:00:00z", "2026-11-24 12:00:00Z", "2026-11-24T12:00:60Z",
            "2026-02-29T00:00:00Z",
            "2100-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-11-24T24:00:00Z",
            "1969-12-31T23:59:59Z",
            "02026-11-24T12:00:00Z", "2026-11-24T12:00:00.0Z", "2026-11-24T12:00:0 Z", "",
        ])
    func refused(_ text: String) { #expect(UTCText.decode(text.utf8) == nil) }

    @Test("Times before 1970 and after 9999 have no text")
    func outside() {
        for seconds: Int64 in [-1, 253_402_300_800, .max, .min] { #expect(UTCText.encode(seconds) == nil) }
    }
}
