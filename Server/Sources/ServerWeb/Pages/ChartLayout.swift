/// The layouts of a chart. Each chart is drawn in both, and the browser shows the one that fits: text in a scaled-down
/// chart would be too small to read.
enum ChartLayout: String, Sendable, Hashable, CaseIterable {
    /// Names are next to the bars.
    case wide
    /// Names are above the bars.
    case narrow

    /// The width in units of the chart's coordinates.
    var width: Int64 { self == .wide ? 960 : 340 }
    /// The x coordinate at which bars begin.
    var left: Int64 { self == .wide ? 200 : 8 }
    /// The x coordinate at which bars end.
    var right: Int64 { width - (self == .wide ? 12 : 8) }
    /// Maximum number of times above the chart.
    var maximumTickCount: Int64 { self == .wide ? 7 : 3 }
    /// The part of each row's height for names.
    var nameHeight: Int64 { self == .wide ? 0 : 30 }

    /// The anchor of a text at a position that keeps the text inside the chart.
    func anchor(_ x: Int64) -> PageValue {
        let room: Int64 = 36
        return .text(x < room ? "start" : x > width - room ? "end" : "middle")
    }
}
