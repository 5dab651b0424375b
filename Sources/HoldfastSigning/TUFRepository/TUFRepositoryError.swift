public import Holdfast

/// Why a repository cannot be changed or published.
public struct TUFRepositoryError: HoldfastError {
    /// The closed set of reasons.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The published repository does not verify, or a file in the folder is not what its name says.
        case damaged
        /// There is no repository in the folder, or there is one although a new one should be made.
        case wrongPlace
        /// A threshold is greater than the number of keys, a role has no keys or one key twice, or an online key signs
        /// root or targets.
        case invalidRoles
        /// In a root, a key id names another key than in the root before, or a new key's id is not its hash, or one key
        /// has two ids.
        case invalidKeys
        /// Clients would not accept this pin file from a repository.
        case invalidPins
        /// There is no draft to sign.
        case nothingToSign
        /// A draft has fewer signatures than it needs.
        case notSigned
        /// A signature of a draft does not verify.
        case invalidSignature
        /// The program or closure that signs with a key in a token or a key service gave no signature.
        case signerFailed
        /// The program or closure that signs gave a signature that does not verify.
        case wrongSignature
        /// The key does not belong to the role.
        case otherKey
        /// A draft does not have the version after the published one, or no greater version is left.
        case wrongVersion
        /// Metadata or pins would not last long enough.
        case tooShort
        /// Clients would refuse what should be published, either at the end or between two writes.
        case refusedByClients
        /// `bundle.json` and the files have different versions: a publication was interrupted, or one of them was
        /// restored from a copy.
        case outOfStep
        /// A file cannot be read or written.
        case storage
        /// Metadata cannot be written: it is larger than clients accept, or a key failed.
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
        case .damaged: "Restore the folder from a copy; clients are not affected."
        case .wrongPlace: "Name the folder of the repository."
        case .invalidRoles: "Give each role enough keys for its threshold; keep online keys out of root and targets."
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
        case .wrongVersion: "Prepare the change again: something else has been published since."
        case .tooShort: "Choose a longer lifetime."
        case .refusedByClients: "Nothing was published; correct what the error names."
        case .outOfStep: "Publish again, or renew: that writes both."
        case .storage: "Check the folder's permissions and the free disk space."
        case .cannotBeWritten: "Check the keys and the published files."
        }
    }
}
