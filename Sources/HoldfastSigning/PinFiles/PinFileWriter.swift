package import Holdfast

package import struct Foundation.Data

extension PinFile {
    /// The file as JSON: fields in the order of this documentation, one pin per line, so that two versions can be
    /// compared line by line. Equal files give equal bytes, and reading the output gives an equal file.
    package var json: Data {
        var lines = ["{", "  \"schema\": \(Self.schema),"]
        if let app { lines.append("  \"app\": \(Self.text(app)),") }
        if let issuedAt { lines.append("  \"issuedAt\": \"\(issuedAt.formatted(.iso8601))\",") }
        if let notAfter { lines.append("  \"notAfter\": \"\(notAfter.formatted(.iso8601))\",") }
        if let refresh {
            let fields = "\"after\": \(refresh.after), \"jitter\": \(refresh.jitter.text), \"grace\": \(refresh.grace)"
            lines.append("  \"refresh\": {\(fields)},")
        }
        lines += Self.list("hosts", hosts.map(\.lines), indent: "  ")
        if !debugAnchors.isEmpty {
            lines[lines.count - 1] += ","
            let anchors = debugAnchors.map { ["    \"\(CanonicalBase64.encode($0.der))\""] }
            lines += Self.list("debugAnchors", anchors, indent: "  ")
        }
        lines.append("}")
        return Data((lines.joined(separator: "\n") + "\n").utf8)
    }

    /// Printable ASCII as a JSON string.
    private static func text(_ value: String) -> String {
        "\"" + value.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] } + "\""
    }

    fileprivate static func list(_ name: String, _ elements: [[String]], indent: String) -> [String] {
        guard !elements.isEmpty else { return ["\(indent)\"\(name)\": []"] }
        var lines = ["\(indent)\"\(name)\": ["]
        for (index, element) in elements.enumerated() {
            lines += element
            if index < elements.count - 1 { lines[lines.count - 1] += "," }
        }
        return lines + ["\(indent)]"]
    }
}

extension PinFile.Host {
    fileprivate var lines: [String] {
        // Names with subdomains are written as most other formats write them; `*.` has no other form.
        let name = pattern.scope == .subtree ? pattern.base.name : pattern.description
        var lines = ["    {", "      \"host\": \"\(name)\","]
        if pattern.scope == .subtree { lines.append("      \"includeSubdomains\": true,") }
        if !ports.isEmpty { lines.append("      \"ports\": [\(ports.map(String.init).joined(separator: ", "))],") }
        guard !isRetired else { return lines + ["      \"retired\": true", "    }"] }
        lines += [
            "      \"mode\": \"\(enforcement.rawValue)\",", "      \"require\": \"\(requirement.rawValue)\",",
            "      \"onExpiry\": \"\(afterExpiry.rawValue)\",",
        ]
        lines += PinFile.list("pins", pins.map { ["        \($0.line)"] }, indent: "      ")
        if let report {
            let fractions =
                "\"failureFraction\": \(report.failureFraction.text), \"successFraction\": \(report.successFraction.text)"
            lines[lines.count - 1] += ","
            lines.append("      \"report\": {\"url\": \"\(report.url)\", \(fractions)}")
        }
        return lines + ["    }"]
    }
}

extension PinFile.KeyPin {
    fileprivate var line: String {
        let end = notAfter.map { ", \"notAfter\": \"\($0.formatted(.iso8601))\"" } ?? ""
        return "{\"pin\": \"\(pin)\", \"role\": \"\(role.rawValue)\", \"state\": \"\(state.rawValue)\"\(end)}"
    }
}

extension PinFile.Fraction {
    /// The text in the writer's form: at least one digit after the point, without further trailing zeros.
    package var text: String {
        let digits = String(1_000_000 + millionths % 1_000_000).dropFirst()
        let kept = digits.reversed().drop { $0 == "0" }.reversed()
        return "\(millionths / 1_000_000)." + (kept.isEmpty ? "0" : String(kept))
    }
}
