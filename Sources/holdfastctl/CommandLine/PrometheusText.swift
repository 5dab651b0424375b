import Foundation
import Holdfast
import HoldfastOutput

/// A verb's findings in the text format of Prometheus, for the textfile collector of its node exporter.
struct PrometheusText {
    /// A host, repository or document that was checked.
    struct Subject {
        /// The host, repository or document, as reports name it.
        let name: String
        /// The exit code for this subject alone.
        let status: CommandFailure.Status?
        /// The ends: each with the last instant before it, or the first instant after it.
        var ends: [(what: String, date: Date)] = []
        /// The number of report addresses on hosts that the same pins cover; nil if it was not checked.
        var coveredReports: Int?
    }

    /// The verb, such as `check` or `repository status`.
    let verb: String
    let now: Date
    let subjects: [Subject]

    /// The text, which ends with a line feed.
    var text: String {
        // No label set may appear twice, so the worst status is reported for each.
        var names: [String] = []
        var states: [[UInt8]: Int32] = [:]
        var ends: [[[UInt8]]: Date] = [:]
        var places: [(name: String, what: String)] = []
        for subject in subjects {
            let key = Array(subject.name.utf8)
            let status = subject.status?.rawValue ?? 0
            if let known = states[key] {
                states[key] = Self.worse(known, status)
            } else {
                names.append(subject.name)
                states[key] = status
            }
            for end in subject.ends {
                let place = [key, Array(end.what.utf8)]
                if ends[place] == nil { places.append((subject.name, end.what)) }
                ends[place] = min(ends[place] ?? .distantFuture, end.date)
            }
        }
        var lines = [
            "# HELP holdfast_status The exit code: 0 all is well, 1 something is wrong, 3 not known, 4 ends soon",
            "# TYPE holdfast_status gauge",
        ]
        lines += names.map { "holdfast_status{\(labels($0))} \(states[Array($0.utf8)] ?? 0)" }
        if !places.isEmpty {
            lines += [
                "# HELP holdfast_end_timestamp_seconds When something ends, in Unix seconds",
                "# TYPE holdfast_end_timestamp_seconds gauge",
            ]
            lines += places.map { place in
                let end = ends[[Array(place.name.utf8), Array(place.what.utf8)]] ?? now
                return
                    "holdfast_end_timestamp_seconds{\(labels(place.name)),what=\"\(Self.escaped(place.what))\"} \(end.wholeSeconds)"
            }
        }
        lines += coveredReports(names)
        lines += [
            "# HELP holdfast_asked_timestamp_seconds When this was found out, in Unix seconds",
            "# TYPE holdfast_asked_timestamp_seconds gauge",
            "holdfast_asked_timestamp_seconds{verb=\"\(verb)\"} \(now.wholeSeconds)",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private func coveredReports(_ names: [String]) -> [String] {
        let counts = names.compactMap { name -> String? in
            // A host that several addresses present is the same host.
            let known = subjects.filter { $0.name.utf8.elementsEqual(name.utf8) }.compactMap(\.coveredReports).max()
            return known.map { "holdfast_covered_reports{\(labels(name))} \($0)" }
        }
        guard !counts.isEmpty else { return [] }
        return [
            "# HELP holdfast_covered_reports Addresses for reports on hosts that the same pins cover",
            "# TYPE holdfast_covered_reports gauge",
        ] + counts
    }

    private func labels(_ name: String) -> String { "verb=\"\(verb)\",subject=\"\(Self.escaped(name))\"" }

    private static func worse(_ one: Int32, _ other: Int32) -> Int32 {
        let order: [Int32] = [1, 5, 3, 4, 0]
        return order.first { $0 == one || $0 == other } ?? max(one, other)
    }

    /// A label's value. Control characters, and those that turn text around, would confuse readers.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "\\": "\\\\"
            case "\"": "\\\""
            case _ where scalar == "\n" || SafeText.isUnsafe(scalar): "?"
            default: String(scalar)
            }
        }.joined()
    }
}
