public import Holdfast

/// Why pins cannot be read, changed, judged or published.
public struct PublishingError: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<PublishingError>

    /// The reason.
    public let code: Code
    /// What it is about, such as a file, a host or a field; nil if the facts say so.
    public let subject: String?
    /// What would have been right, what was found instead, and what to do.
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
    /// A document is not one that clients accept, or not of the kind that it was given as.
    public static var invalidDocument: Self { Self("Correct what the error names; clients would refuse the document.") }
    /// The input contradicts itself, or something that is needed is missing.
    public static var invalidInput: Self { Self("Correct the field that the error names.") }
    /// What some server of a host shows is not known, so that nobody can say who gets in.
    public static var notSeen: Self { Self("Try again when every server answers.") }
    /// A certificate whose pin is to be published is replaced before every client can have the pin of its successor.
    public static var shortLife: Self { Self("Pin its key instead, in a pin file.") }
    /// A certificate, a key or a pin is not a host's own; the text says which condition it does not meet.
    public static var notTheHosts: Self { Self("Give the host's own certificate or key.") }
    /// Nothing was signed.
    public static var notSigned: Self { Self("Nothing was published; correct what the error names.") }
    /// Somebody else wrote at the same time.
    public static var changedMeanwhile: Self { Self("Try again; it begins with what is there now.") }
    /// Another system's format cannot express it.
    public static var notExpressible: Self { Self("Leave it out, or keep the pin file.") }
    /// A file or folder cannot be read.
    public static var unreadable: Self { Self("Check the path and its permissions.") }
    /// A file or folder cannot be written; what was there is unchanged.
    public static var unwritable: Self { Self("Check the path, its permissions and the free space.") }
}
