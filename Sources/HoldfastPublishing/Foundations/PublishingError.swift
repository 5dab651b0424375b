public import Holdfast

/// Why pins cannot be read, changed, evaluated or published.
public struct PublishingError: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<PublishingError>

    /// The reason.
    public let code: Code
    /// The subject, such as a file, a host or a field; nil if the facts name it.
    public let subject: String?
    /// The expected value, the value that was found, and the fix.
    public let facts: ErrorFacts

    package init(_ code: Code, of subject: String? = nil, expected: String, found: String, remedy: String? = nil) {
        self.code = code
        self.subject = subject
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy ?? code.remedy)
    }

    /// `code of SUBJECT: expected …, found …. Remedy.`
    public var description: String {
        "\(code.rawValue)\(subject.map { " of \($0)" } ?? ""): expected \(expected), found \(found). \(remedy)"
    }
}

extension PublishingError.Code {
    /// A document is not one that clients accept, or is of another kind than stated.
    public static var invalidDocument: Self { Self("Correct what the error names; clients would refuse the document.") }
    /// The input contradicts itself, or a required value is missing.
    public static var invalidInput: Self { Self("Correct the field that the error names.") }
    /// It is unknown which chain some server of a host presents, so the result for clients is unknown.
    public static var notSeen: Self { Self("Try again when every server answers.") }
    /// A certificate with a pin that is about to be published is replaced before every client can have its successor's
    /// pin.
    public static var shortLife: Self { Self("Pin its key instead, in a pin file.") }
    /// A certificate, a key or a pin is not a host's own; the text names the condition that it does not meet.
    public static var notTheHosts: Self { Self("Give the host's own certificate or key.") }
    /// Nothing was signed.
    public static var notSigned: Self { Self("Nothing was published; correct what the error names.") }
    /// Another program wrote at the same time.
    public static var changedMeanwhile: Self { Self("Try again; it begins with what is there now.") }
    /// Another system's format cannot express it.
    public static var notExpressible: Self { Self("Leave it out, or keep the pin file.") }
    /// A file or folder cannot be read.
    public static var unreadable: Self { Self("Check the path and its permissions.") }
    /// A file or folder cannot be written; the earlier content is unchanged.
    public static var unwritable: Self { Self("Check the path, its permissions and the free space.") }
}
