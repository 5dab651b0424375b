/// The time axis of a chart: maps seconds to units of its coordinates.
struct ChartScale: Sendable, Hashable {
    /// The times that the chart shows.
    let range: ClosedRange<Int64>
    /// The x coordinates of the beginning and the end.
    let left: Int64
    let right: Int64

    let form: ChartLayout

    /// Distances between ticks, from an hour to a year.
    private static let steps: [Int64] = [
        3_600, 4 * 3_600, 8 * 3_600, 86_400, 2 * 86_400, 7 * 86_400, 14 * 86_400, 30 * 86_400, 91 * 86_400,
        182 * 86_400, 365 * 86_400,
    ]

    /// - Parameters:
    ///   - range: the times that the chart shows.
    ///   - form: the layout of the chart.
    ///   - left: the x coordinate of the beginning; nil for the beginning of the layout's bars.
    ///   - right: the x coordinate of the end; nil for the end of the layout's bars.
    init(_ range: ClosedRange<Int64>, in form: ChartLayout = .wide, left: Int64? = nil, right: Int64? = nil) {
        (self.range, self.form) = (range, form)
        self.left = left ?? form.left
        self.right = right ?? form.right
    }

    /// The x coordinate of a time; times outside of the range map to its edges.
    func x(_ time: Int64) -> Int64 {
        let inside = min(max(time, range.lowerBound), range.upperBound) - range.lowerBound
        return left + inside * (right - left) / max(1, range.upperBound - range.lowerBound)
    }

    /// The bar for the part of a period that is inside of the range; nil if none is.
    func bar(_ part: ClosedRange<Int64>) -> (x: Int64, width: Int64)? {
        guard part.overlaps(range) else { return nil }
        let (begin, end) = (x(part.lowerBound), x(part.upperBound))
        return (begin, max(3, end - begin))
    }

    /// The times to write above the chart.
    var ticks: [(x: Int64, words: String)] {
        let span = range.upperBound - range.lowerBound
        let step = Self.steps.first { span / $0 <= form.maximumTickCount } ?? max(1, span / form.maximumTickCount)
        let first = (range.lowerBound / step + 1) * step
        return stride(from: first, through: range.upperBound, by: Int(step)).prefix(16).map { time in
            (x(time), step < 86_400 ? String(PageText.time(time).suffix(5)) : PageText.day(time))
        }
    }

    /// The values of the ticks for the template.
    func tickValues(bottom: Int64) -> PageValue {
        .list(
            ticks.map { x, words in
                ["x": .number(x), "words": .text(words), "bottom": .number(bottom), "anchor": form.anchor(x)]
            })
    }
}
