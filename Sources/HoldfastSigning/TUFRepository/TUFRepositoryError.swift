public import Holdfast

/// Why a repository cannot be changed or published.
public struct TUFRepositoryError: HoldfastError {
    /// The closed set of reasons.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// What is published does not verify, or a file in the folder is none.
        case damaged
        /// There is no repository in the folder, or there is one already.
        case wrongPlace
        /// A threshold that no keys reach, a role without keys, or an online key that signs root or targets.
        case invalidRoles
        /// A root in which a key id stands for another key than in the root before, or for one that it is not the hash
        /// of, or in which one key has two ids.
        case invalidKeys
        /// The pin file is none that clients take from a repository.
        case invalidPins
        /// There is no draft to sign.
        case nothingToSign
        /// A draft has fewer signatures than it needs.
        case notSigned
        /// A signature of a draft does not verify.
        case invalidSignature
        /// What signs with a key that is elsewhere gave no signature.
        case signerFailed
        /// What signs with a key that is elsewhere gave a signature that does not verify.
        case wrongSignature
        /// The key signs nothing of what it was given for.
        case otherKey
        /// A draft does not follow on what is published.
        case wrongVersion
        /// Metadata would last too short a time.
        case tooShort
        /// Clients would refuse what is to be published, in the end or on the way there.
        case refusedByClients
        /// `bundle.json` and the files are of different versions: a publication was interrupted, or one of them put back.
        case outOfStep
        /// A file cannot be read or written.
        case storage
        /// Metadata cannot be written: it is larger than clients take, or a key failed.
        case cannotBeWritten
    }

    /// The reason.
    public let code: Code
    /// The role or the file that it is about.
    public let subject: String?
    /// What would have been right, what was there instead, and what to do.
    public let facts: ErrorFacts

    init(_ code: Code, of subject: String? = nil, expected: String, found: String, remedy: String? = nil) {
        self.code = code
        self.subject = subject
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy ?? code.usualRemedy)
    }

    /// `code of ROLE: expected …, found …. Remedy.`
    public var description: String {
        "\(code.rawValue)\(subject.map { " of \($0)" } ?? ""): expected \(expected), found \(found). \(remedy)"
    }
}

extension TUFRepositoryError.Code {
    fileprivate var usualRemedy: String {
        switch self {
        case .damaged: "Put the folder back from a copy; what clients have stays as it is."
        case .wrongPlace: "Name the folder of the repository."
        case .invalidRoles: "Give each role keys of its own, and a threshold that they reach."
        case .invalidKeys:
            "Do not sign it: somebody changed it. Delete draft/root.json, and prepare the change again from keys that you "
                + "know."
        case .invalidPins: "Correct the pin file."
        case .nothingToSign: "Prepare something first: new pins, or other keys."
        case .notSigned: "Pass the repository's folder on to the other keyholders, who sign with their keys."
        case .invalidSignature: "Do not sign it: prepare the change again, from pins and keys that you know."
        case .signerFailed: "Find out why it did not sign, and try again; nothing was changed."
        case .wrongSignature: "Check which key it signs with; nothing was changed."
        case .otherKey: "Give the key of a role that signs it."
        case .wrongVersion: "Prepare the change again: something else was published since."
        case .tooShort: "Choose a longer lifetime."
        case .refusedByClients: "Nothing was published; correct what is said here."
        case .outOfStep: "Publish again, or renew: that writes both."
        case .storage: "Check the folder's permissions and the space that is left."
        case .cannotBeWritten: "Check the keys, and what is published, for what is said here."
        }
    }
}
