import Foundation

/// Lines of a Markdown table: two figures of one run, their ratio, and its target.
struct Report {
    private struct Line {
        let cells: [String]
        let isMet: Bool?
    }

    private var sections: [(title: String, lines: [Line])] = []

    mutating func section(_ title: String) {
        sections.append((title, []))
        FileHandle.standardError.write(Data("measuring: \(title)\n".utf8))
    }

    /// A workload and the one that it is compared with.
    /// - Parameters:
    ///   - target: the maximum ratio; nil if none was set.
    ///   - strictly: whether it must be below.
    mutating func compare(
        _ one: Series, with other: Series, name: String? = nil, target: Double? = nil, strictly: Bool = false
    ) {
        let ratio = one.ratio(to: other)
        let isMet = target.map { strictly ? ratio < $0 : ratio <= $0 }
        let limit = target.map { (strictly ? "< " : "≤ ") + Self.number($0) } ?? ""
        add(
            [
                name ?? one.name, Self.time(one.median), "\(other.name): \(Self.time(other.median))",
                Self.number(ratio),
                limit, Self.verdict(isMet),
            ], isMet)
    }

    /// A workload with its own target, in nanoseconds.
    mutating func state(_ one: Series, name: String? = nil, below limit: Double? = nil) {
        let isMet = limit.map { one.median < $0 }
        add(
            [
                name ?? one.name, Self.time(one.median), "", "", limit.map { "< \(Self.time($0))" } ?? "",
                Self.verdict(isMet),
            ], isMet)
    }

    /// A ratio from another measurement.
    mutating func state(_ name: String, ratio: Double, to other: String, target: Double) {
        let isMet = ratio <= target
        add([name, "", other, Self.number(ratio), "≤ " + Self.number(target), Self.verdict(isMet)], isMet)
    }

    /// Any other counted figure.
    mutating func state(_ name: String, _ figure: String, target: String, isMet: Bool) {
        add([name, figure, "", "", target, Self.verdict(isMet)], isMet)
    }

    /// Two figures that were counted.
    mutating func compare(_ name: String, _ figure: String, with other: String, ratio: Double) {
        add([name, figure, other, Self.number(ratio), "", ""], nil)
    }

    private mutating func add(_ cells: [String], _ isMet: Bool?) {
        guard !sections.isEmpty else { return }
        sections[sections.count - 1].lines.append(Line(cells: cells, isMet: isMet))
    }

    /// The number of missed targets.
    var missed: Int { sections.flatMap(\.lines).count { $0.isMet == false } }

    var markdown: String {
        var text = "| what | time | beside | ratio | target | met |\n|---|---:|---|---:|---:|---|\n"
        for (title, lines) in sections {
            text += "| **\(title)** | | | | | |\n"
            for line in lines { text += "| " + line.cells.joined(separator: " | ") + " |\n" }
        }
        return text
    }

    private static func verdict(_ isMet: Bool?) -> String { isMet.map { $0 ? "yes" : "**no**" } ?? "" }

    static func number(_ value: Double) -> String { String(format: value < 10 ? "%.2f" : "%.1f", value) }

    static func time(_ nanoseconds: Double) -> String {
        switch nanoseconds {
        case ..<1_000: String(format: "%.0f ns", nanoseconds)
        case ..<100_000: String(format: "%.2f µs", nanoseconds / 1_000)
        case ..<10_000_000: String(format: "%.0f µs", nanoseconds / 1_000)
        default: String(format: "%.1f ms", nanoseconds / 1_000_000)
        }
    }
}
