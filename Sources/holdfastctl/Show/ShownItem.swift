import Holdfast

/// One thing that a document holds, as far as there is something to say about it; its fields are those of the JSON
/// object.
struct ShownItem: Encodable {
    struct Fact: Encodable {
        let name: String
        let value: String
    }

    /// Who signed it, and whether that verifies.
    struct Signature: Encodable {
        enum State: String, Encodable {
            /// It verifies, under a key that was given or that is there.
            case verified
            /// It does not.
            case invalid
            /// It was not looked at, since the key is not there.
            case unverified
            /// Nobody signs such a thing.
            case unsigned
        }

        let state: State
        /// By whom, or what to do.
        let text: String
    }

    /// What it is, for example `signed list`.
    let kind: String
    var signature: Signature?
    var facts: [Fact] = []
    var certificate: CertificateReport?
    /// Of a list and of an answer to a challenge.
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
                .init(entry.fingerprint + (entry.depth.map { "  depth \($0)" } ?? ""), .faint))
        }
    }
}
