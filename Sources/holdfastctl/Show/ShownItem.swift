import Holdfast
import HoldfastOutput

/// One thing that a document contains, with everything that is known about it. Its fields are those of the JSON object.
struct ShownItem: Encodable {
    struct Fact: Encodable {
        let name: String
        let value: String
    }

    /// Who signed it, and whether that verifies.
    struct Signature: Encodable {
        enum State: String, Encodable {
            /// It verifies with a key that was given or that is in the file.
            case verified
            /// It does not verify.
            case invalid
            /// It was not verified, because the key is missing.
            case unverified
            /// Documents of this kind are not signed.
            case unsigned
        }

        let state: State
        /// Who signed it, or what to do.
        let text: String
    }

    /// What it is, for example `signed list`.
    let kind: String
    var signature: Signature?
    var facts: [Fact] = []
    var certificate: CertificateReport?
    /// The entries of a list or of a response to a challenge.
    var entries: [PinListReport.Entry]?

    init(_ kind: String, signature: Signature? = nil) {
        self.kind = kind
        self.signature = signature
    }

    mutating func add(_ name: String, _ value: String?) {
        if let value { facts.append(Fact(name: name, value: value)) }
    }

    func print(to output: Output) {
        output.heading(kind)
        if let signature {
            let style: Output.Style =
                switch signature.state {
                case .verified: .good
                case .invalid: .bad
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
