/// The content of `/metrics`: Prometheus' text format 0.0.4.
package struct MetricsText: Sendable {
    /// The type of a family.
    package enum Kind: String, Sendable {
        case counter, gauge
    }

    /// One value.
    package struct Sample: Sendable {
        package let labels: [(name: String, value: String)]
        package let value: Double

        package init(_ labels: [(String, String)], _ value: Double) {
            self.labels = labels.map { (name: $0.0, value: $0.1) }
            self.value = value
        }
    }

    /// The values of one metric.
    package struct Family: Sendable {
        package let name: String
        package let kind: Kind
        package let help: String
        package let samples: [Sample]

        package init(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
            self.name = name
            self.kind = kind
            self.help = help
            self.samples = samples
        }
    }

    package static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    package let families: [Family]

    package init(families: [Family]) {
        self.families = families
    }

    /// The metrics as text.
    package var text: String {
        var text = ""
        for family in families where !family.samples.isEmpty {
            text += "# HELP \(family.name) \(family.help)\n# TYPE \(family.name) \(family.kind.rawValue)\n"
            for sample in family.samples {
                let labels = sample.labels.map { #"\#($0.name)="\#(Self.escaped($0.value))""# }
                text += family.name + (labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}")
                text += " \(Self.number(sample.value))\n"
            }
        }
        return text
    }

    private static func number(_ value: Double) -> String {
        Int64(exactly: value).map(String.init) ?? "\(value)"
    }

    private static func escaped(_ value: String) -> String {
        String(
            decoding: value.utf8.flatMap { byte -> [UInt8] in
                switch byte {
                case UInt8(ascii: "\\"), UInt8(ascii: "\""): [UInt8(ascii: "\\"), byte]
                case 0x0A: Array("\\n".utf8)
                default: [byte]
                }
            }, as: UTF8.self)
    }
}
