import Foundation

/// Lines of a Markdown table, like those of the main package's benchmarks.
struct Report {
    private var lines: [String] = []
    /// The number of missed targets.
    private(set) var missed = 0

    mutating func section(_ title: String) { lines.append("| **\(title)** | | | | | |") }

    /// A figure compared to another one, by a ratio.
    /// - Parameters:
    ///   - most: the maximum ratio; nil for a ratio that is only reported.
    ///   - least: the minimum ratio.
    mutating func compare(
        _ what: String, _ figure: String, beside other: String, ratio: Double, most: Double? = nil,
        least: Double? = nil
    ) {
        let isMet: Bool? = most.map { ratio <= $0 } ?? least.map { ratio >= $0 }
        let target = most.map { "≤ \(Self.number($0))" } ?? least.map { "≥ \(Self.number($0))" } ?? ""
        add([what, figure, other, Self.number(ratio), target], isMet)
    }

    /// A figure with its own target, or none.
    mutating func state(_ what: String, _ figure: String, target: String = "", isMet: Bool? = nil) {
        add([what, figure, "", "", target], isMet)
    }

    private mutating func add(_ cells: [String], _ isMet: Bool?) {
        if isMet == false { missed += 1 }
        let verdict = isMet.map { $0 ? "yes" : "**no**" } ?? ""
        lines.append("| \((cells + [verdict]).joined(separator: " | ")) |")
    }

    var markdown: String {
        (["| what | figure | beside | ratio | target | met |", "|---|---:|---|---:|---:|---|"] + lines)
            .joined(separator: "\n")
    }

    static func number(_ value: Double) -> String { String(format: value < 10 ? "%.2f" : "%.1f", value) }

    /// A time in seconds, for people.
    static func time(_ seconds: Double) -> String {
        switch seconds {
        case ..<1e-3: String(format: "%.1f µs", seconds * 1e6)
        case ..<1: String(format: "%.2f ms", seconds * 1e3)
        default: String(format: "%.2f s", seconds)
        }
    }
}
