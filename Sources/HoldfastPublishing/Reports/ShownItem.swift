import Holdfast

/// One item of a document, with all known facts about it. Its fields are those of the JSON object.
package struct ShownItem: Sendable, Encodable {
    package struct Fact: Sendable, Encodable {
        package let name: String
        package let value: String
    }

    /// The signer, and the result of verifying the signature.
    package struct Signature: Sendable, Encodable {
        package enum State: String, Sendable, Encodable {
            /// The signature verifies with a key that was given or that is in the file.
            case verified
            /// The signature does not verify.
            case invalid
            /// The signature was not verified, because its algorithm or its signer's kind of key is not supported.
            case unsupported
            /// The signature was not verified, because the key is missing.
            case unverified
            /// Documents of this kind are not signed.
            case unsigned
        }

        package let state: State
        /// The signer, or the remedy.
        package let text: String

        /// Whether clients refuse such a signature, no matter who signed.
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

        /// Makes the signature from the reason why a document was refused.
        init(_ error: DocumentError) {
            self.init(state: error.code == .unsupportedAlgorithm ? .unsupported : .invalid, text: "\(error)")
        }
    }

    /// The kind of item, for example `signed list`.
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
