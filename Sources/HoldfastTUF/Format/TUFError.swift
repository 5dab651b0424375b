public import Holdfast

/// Why metadata or a target was refused, or could not be obtained.
public struct TUFError: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<TUFError>

    /// The reason.
    public let code: Code
    /// The role whose metadata is at fault, or the name of the target; safe to print in a message.
    public let subject: String?
    /// The section of the specification that requires the check, if one does.
    public let section: String?
    /// The expected value, the value that was found, and the fix.
    public let facts: ErrorFacts

    init(_ code: Code, of subject: String? = nil, section: String? = nil, expected: String, found: String) {
        self.code = code
        self.subject = subject
        self.section = section
        facts = ErrorFacts(expected: expected, found: found, remedy: code.remedy)
    }

    /// Makes an error from an error of the strict JSON reader.
    init(reading error: DocumentError) {
        let found = error.field.map { "\(error.found) (field \($0.quoted))" } ?? error.found
        self.init(error.code == .tooLarge ? .tooLarge : .malformed, expected: error.expected, found: found)
    }

    /// Adds a subject and a section to the error, unless it has them already.
    func about(_ subject: String, section: String) -> TUFError {
        TUFError(
            code, of: self.subject ?? subject, section: self.section ?? section, expected: expected, found: found)
    }
}

// Remedies of several errors.
private let publishAnew =
    "Do not use the file; have the repository publish it again with a tool that follows the specification."
private let tryLater =
    "Try again later; if it persists, the repository is broken, or somebody serves old or altered files."

extension TUFError.Code {
    // Served or stored files
    /// Not JSON, not in the form of section 4, or ambiguous: an object has a key twice, or a number has a fraction.
    public static var malformed: Self { Self(publishAnew) }
    /// More bytes than the limit, or than the metadata states.
    public static var tooLarge: Self {
        Self("Check that the URL leads to the repository, or raise the client's limits.")
    }
    /// Metadata of another role than the requested one.
    public static var wrongType: Self { Self(publishAnew) }
    /// A major version of the specification other than 1.
    public static var unsupportedSpecification: Self { Self("Use a repository of version 1 of the specification.") }
    /// A key id twice among the signatures (section 4.2.1).
    public static var duplicateSignature: Self { Self(publishAnew) }
    /// Fewer valid signatures than the threshold requires.
    public static var notSigned: Self {
        Self("Do not use the file: it was altered, or it is signed with other keys than the trusted ones.")
    }
    /// Fewer valid signatures than the threshold requires, because some are of a scheme or a kind of key that Holdfast
    /// does not verify. Whether the file was altered is unknown.
    public static var unsupportedAlgorithm: Self {
        Self("Have the repository sign with Ed25519, P-256, P-384 or RSA keys too, in a scheme that the app allows.")
    }
    /// The version is not the one that the workflow requires here.
    public static var wrongVersion: Self { Self(tryLater) }
    /// An older version than one that was trusted before.
    public static var rolledBack: Self { Self(tryLater) }
    /// A role has no entry in the snapshot, or has none in a new snapshot although the trusted one lists it.
    public static var missingRole: Self { Self(tryLater) }
    /// The metadata has expired.
    public static var expired: Self {
        Self("Check this device's clock; if it is right, the repository has to publish new metadata.")
    }
    /// The length or a hash differs from what trusted metadata states.
    public static var mismatch: Self { Self(tryLater) }

    // While searching for a target
    /// No role that is responsible for the target lists it.
    public static var unknownTarget: Self { Self("Check the name of the target.") }
    /// More delegated roles than the limit.
    public static var tooManyDelegations: Self {
        Self("Raise the client's limits if the repository needs more.")
    }
    /// More work than legitimate metadata needs.
    public static var tooCostly: Self { Self("Raise the client's limits if the repository needs more.") }
    /// A name that cannot be part of a URL.
    public static var unusableName: Self { Self("Give the target a name without empty, `.` and `..` parts.") }

    // Network and storage
    /// The server does not have a required file, or cannot be reached.
    public static var unavailable: Self { Self("Check the network and the URL, and try again later.") }
    /// The client has no trusted root to start from.
    public static var noTrustedRoot: Self { Self("Initialize the client with the root metadata of the repository.") }
    /// The stored metadata cannot be read or replaced.
    public static var storage: Self { Self("Check the folder's permissions and the free disk space.") }
    /// Another update has changed the stored metadata.
    public static var changedMeanwhile: Self { Self("Refresh once more.") }
}

extension TUFError {
    /// `code of ROLE (section): expected …, found …. Remedy.`
    public var description: String {
        let place = (subject.map { " of \($0)" } ?? "") + (section.map { " (\($0))" } ?? "")
        return "\(code.rawValue)\(place): expected \(expected), found \(found). \(remedy)"
    }
}
