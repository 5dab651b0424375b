import Holdfast

/// One thing that a document contains, with everything that is known about it. Its fields are those of the JSON object.
package struct ShownItem: Sendable, Encodable {
    package struct Fact: Sendable, Encodable {
        package let name: String
        package let value: String
    }

    /// Who signed it, and whether that verifies.
    package struct Signature: Sendable, Encodable {
        package enum State: String, Sendable, Encodable {
            /// It verifies with a key that was given or that is in the file.
            case verified
            /// It does not verify.
            case invalid
            /// It was not verified, because its algorithm or its signer's kind of key is not supported.
            case unsupported
            /// It was not verified, because the key is missing.
            case unverified
            /// Documents of this kind are not signed.
            case unsigned
        }

        package let state: State
        /// Who signed it, or what to do.
        package let text: String

        /// Whether a client refuses what is signed like this, whoever signed it.
        package var isRefused: Bool { state == .invalid || state == .unsupported }

        init(state: State, text: String) {
            self.state = state
            self.text = text
        }

        /// A signature that was not verified.
        /// - Parameter name: of the algorithm, or of the kind of key.
        init(unsupported name: String) {
            self.init(
                state: .unsupported, text: "\(name) is not supported, so whether it was altered is unknown")
        }

        /// The reason why a document was refused.
        init(_ error: DocumentError) {
            self.init(state: error.code == .unsupportedAlgorithm ? .unsupported : .invalid, text: "\(error)")
        }
    }

    /// What it is, for example `signed list`.
    package let kind: String
    package var signature: Signature?
    package var facts: [Fact] = []
    package var certificate: CertificateReport?
    /// The entries of a list or of a response to a challenge.
    package var entries: [FingerprintListReport.Entry]?

    init(_ kind: String, signature: Signature? = nil) {
        self.kind = kind
        self.signature = signature
    }

    mutating func add(_ name: String, _ value: String?) {
        if let value { facts.append(Fact(name: name, value: value)) }
    }
}
