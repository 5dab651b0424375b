/// The time axis of a picture: seconds to units of its coordinates.
struct ChartScale: Sendable, Hashable {
    /// What is shown.
    let range: ClosedRange<Int64>
    /// Where it begins and ends.
    let left: Int64
    let right: Int64

    let form: ChartLayout

    /// From a few hours to a few years.
    private static let steps: [Int64] = [
        3_600, 4 * 3_600, 8 * 3_600, 86_400, 2 * 86_400, 7 * 86_400, 14 * 86_400, 30 * 86_400, 91 * 86_400,
        182 * 86_400, 365 * 86_400,
    ]

    /// - Parameters:
    ///   - range: what is shown.
    ///   - form: what the picture has room for.
    ///   - left: where it begins; nil for where bars of the form do.
    ///   - right: where it ends.
    init(_ range: ClosedRange<Int64>, in form: ChartLayout = .wide, left: Int64? = nil, right: Int64? = nil) {
        (self.range, self.form) = (range, form)
        self.left = left ?? form.left
        self.right = right ?? form.right
    }

    /// Where a time is; what is outside stands at the edge.
    func x(_ time: Int64) -> Int64 {
        let inside = min(max(time, range.lowerBound), range.upperBound) - range.lowerBound
        return left + inside * (right - left) / max(1, range.upperBound - range.lowerBound)
    }

    /// A bar over a part of it that is inside; nil if none is.
    func bar(_ part: ClosedRange<Int64>) -> (x: Int64, width: Int64)? {
        guard part.overlaps(range) else { return nil }
        let (begin, end) = (x(part.lowerBound), x(part.upperBound))
        return (begin, max(3, end - begin))
    }

    /// Times to write above it.
    var ticks: [(x: Int64, words: String)] {
        let span = range.upperBound - range.lowerBound
        let step = Self.steps.first { span / $0 <= form.maximumTickCount } ?? max(1, span / form.maximumTickCount)
        let first = (range.lowerBound / step + 1) * step
        return stride(from: first, through: range.upperBound, by: Int(step)).prefix(16).map { time in
            (x(time), step < 86_400 ? String(PageText.time(time).suffix(5)) : PageText.day(time))
        }
    }

    /// What the template shows of the ticks.
    func tickValues(bottom: Int64) -> PageValue {
        .list(
            ticks.map { x, words in
                ["x": .number(x), "words": .text(words), "bottom": .number(bottom), "anchor": form.anchor(x)]
            })
    }
}
