public import Holdfast

/// Why metadata or a target was refused, or could not be obtained.
public struct TUFError: HoldfastError {
    /// The closed set of reasons.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        // About what was served or stored
        /// Not JSON, not in the form of section 4, or ambiguous: an object has a key twice, or a number has a fraction.
        case malformed
        /// More bytes than the limit, or than the metadata says.
        case tooLarge
        /// Metadata of another role than the requested one.
        case wrongType
        /// A major version of the specification other than 1.
        case unsupportedSpecification
        /// A key id twice among the signatures (section 4.2.1).
        case duplicateSignature
        /// Fewer valid signatures than the threshold requires.
        case notSigned
        /// The version is not the one that the workflow requires here.
        case wrongVersion
        /// An older version than one that was trusted before.
        case rolledBack
        /// A role has no entry in the snapshot, or has none in a new snapshot although the trusted one lists it.
        case missingRole
        /// The metadata has expired.
        case expired
        /// The length or a hash differs from what trusted metadata states.
        case mismatch

        // While searching for a target
        /// No role that is responsible for the target lists it.
        case unknownTarget
        /// More delegated roles than the limit.
        case tooManyDelegations
        /// More work than legitimate metadata needs.
        case tooCostly
        /// A name that cannot be part of a URL.
        case unusableName

        // About the network and the store
        /// The server does not have a file that is needed, or cannot be reached.
        case unavailable
        /// There is no trusted root to start from.
        case noTrustedRoot
        /// The stored metadata cannot be read or replaced.
        case storage
        /// Another update has changed the stored metadata.
        case changedMeanwhile
    }

    /// The reason.
    public let code: Code
    /// The role whose metadata is at fault, or the name of the target; safe to print in a message.
    public let subject: String?
    /// The section of the specification that requires the check, if one does.
    public let section: String?
    /// What would have been right, what was found instead, and what to do.
    public let facts: ErrorFacts

    init(_ code: Code, of subject: String? = nil, section: String? = nil, expected: String, found: String) {
        self.code = code
        self.subject = subject
        self.section = section
        facts = ErrorFacts(expected: expected, found: found, remedy: code.usualRemedy)
    }

    /// Takes over an error of the strict JSON reader.
    init(reading error: DocumentError) {
        let found = error.field.map { "\(error.found) (field \($0.quoted))" } ?? error.found
        self.init(error.code == .tooLarge ? .tooLarge : .malformed, expected: error.expected, found: found)
    }

    /// The same error with a subject and a section, if the code that threw it did not know them.
    func about(_ subject: String, section: String) -> TUFError {
        TUFError(
            code, of: self.subject ?? subject, section: self.section ?? section, expected: expected, found: found)
    }
}

extension TUFError {
    /// `code of ROLE (section): expected …, found …. Remedy.`
    public var description: String {
        let place = (subject.map { " of \($0)" } ?? "") + (section.map { " (\($0))" } ?? "")
        return "\(code.rawValue)\(place): expected \(expected), found \(found). \(remedy)"
    }
}

extension TUFError.Code {
    fileprivate var usualRemedy: String {
        switch self {
        case .malformed, .wrongType, .duplicateSignature:
            "Do not use the file; have the repository publish it again with a tool that follows the specification."
        case .unsupportedSpecification: "Use a repository of version 1 of the specification."
        case .tooLarge: "Check that the URL leads to the repository, or raise the limits of the settings."
        case .notSigned: "Do not use the file: it was altered, or it is signed with other keys than the trusted ones."
        case .wrongVersion, .rolledBack, .missingRole, .mismatch:
            "Try again later; if it persists, the repository is broken, or somebody serves old or altered files."
        case .expired:
            "Check this device's clock; if it is right, the repository has to publish new metadata."
        case .unknownTarget: "Check the name of the target."
        case .tooManyDelegations, .tooCostly: "Raise the limits of the settings if the repository needs more."
        case .unusableName: "Give the target a name without empty, `.` and `..` parts."
        case .unavailable: "Check the network and the URL, and try again later."
        case .noTrustedRoot: "Initialize the client with the root metadata of the repository."
        case .storage: "Check the folder's permissions and the free disk space."
        case .changedMeanwhile: "Refresh once more."
        }
    }
}
