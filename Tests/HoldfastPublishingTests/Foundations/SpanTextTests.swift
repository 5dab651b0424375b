import HoldfastPublishing
import Testing

@Suite("Spans of time in words")
struct SpanTextTests {
    @Test(
        "A span stands there as arguments are written, in the largest unit of which it is a multiple",
        arguments: [
            (0, "0s"), (59, "59s"), (60, "1m"), (90, "90s"), (3_600, "1h"), (90_000, "25h"), (86_400, "1d"),
            (30 * 86_400, "30d"), (-60, "-60s"),
        ] as [(Int64, String)])
    func units(seconds: Int64, text: String) { #expect(SpanText.text(seconds) == text) }

    @Test(
        "An age stands there in the largest unit of which it has two",
        arguments: [
            (0, "0s"), (119, "119s"), (120, "2m"), (4_205, "70m"), (7_200, "2h"), (93_612, "26h"), (172_801, "2d"),
        ] as [(Int64, String)])
    func ages(seconds: Int64, text: String) { #expect(SpanText.rounded(seconds) == text) }
}
