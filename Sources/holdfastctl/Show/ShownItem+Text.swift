import HoldfastOutput
import HoldfastPublishing

extension ShownItem {
    func print(to output: Output) {
        output.heading(kind)
        if let signature {
            let style: Output.Style =
                switch signature.state {
                case .verified: .good
                case .invalid, .unsupported: .bad
                case .unverified, .unsigned: .plain
                }
            output.line(
                .init("  \("signature".padded(to: 11))", .faint), .init(signature.state.rawValue, style),
                .init(": \(SafeText.escapedLine(signature.text))"))
        }
        for fact in facts {
            output.line(.init("  \(fact.name.padded(to: 11))", .faint), .init(SafeText.escapedLine(fact.value)))
        }
        certificate?.print(to: output)
        for entry in entries ?? [] {
            output.line(
                .init("  \("entry".padded(to: 11))", .faint),
                .init("\(SafeText.escapedLine(entry.name))  \(entry.remaining)  \(entry.expiryDate)  "),
                .init(entry.certificatePin + (entry.depth.map { "  depth \($0)" } ?? ""), .faint))
        }
    }
}
