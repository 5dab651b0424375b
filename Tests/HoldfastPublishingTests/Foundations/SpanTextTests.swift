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
}
