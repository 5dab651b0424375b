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
            /// It was not verified, because the key is missing.
            case unverified
            /// Documents of this kind are not signed.
            case unsigned
        }

        package let state: State
        /// Who signed it, or what to do.
        package let text: String
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
