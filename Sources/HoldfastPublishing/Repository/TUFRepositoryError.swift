public import Holdfast

/// Why a repository cannot be changed or published.
public struct TUFRepositoryError: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<TUFRepositoryError>

    /// The reason.
    public let code: Code
    /// The subject: a role or a file.
    public let subject: String?
    /// The expected value, the value that was found, and the fix.
    public let facts: ErrorFacts

    init(_ code: Code, of subject: String? = nil, expected: String, found: String, remedy: String? = nil) {
        self.code = code
        self.subject = subject
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy ?? code.remedy)
    }

    /// `code of ROLE: expected …, found …. Remedy.`
    public var description: String {
        "\(code.rawValue)\(subject.map { " of \($0)" } ?? ""): expected \(expected), found \(found). \(remedy)"
    }
}

extension TUFRepositoryError.Code {
    /// The published repository does not verify, or a file in the folder does not match its name.
    public static var damaged: Self { Self("Restore the folder from a copy; clients are not affected.") }
    /// The folder has no repository, or it has one although a new one should be made.
    public static var wrongPlace: Self { Self("Name the folder of the repository.") }
    /// A threshold is greater than the number of keys, a role has no keys or one key twice, or an online key signs
    /// root or targets.
    public static var invalidRoles: Self {
        Self("Give each role enough keys for its threshold; keep online keys out of root and targets.")
    }
    /// In a root, a key id names another key than in the previous root, a new key's id is not its hash, or one key has
    /// two ids.
    public static var invalidKeys: Self {
        Self(
            "Do not sign it: somebody changed it. Delete draft/root.json, and prepare the change again from keys that you "
                + "know.")
    }
    /// Clients would not accept this pin file from a repository.
    public static var invalidPins: Self { Self("Correct the pin file.") }
    /// There is no draft to sign.
    public static var nothingToSign: Self { Self("Prepare something first: new pins, or other keys.") }
    /// A draft has fewer signatures than it needs.
    public static var notSigned: Self {
        Self("Pass the repository's folder on to the other keyholders, who sign with their keys.")
    }
    /// A signature of a draft does not verify.
    public static var invalidSignature: Self {
        Self("Do not sign it: prepare the change again, from pins and keys that you know.")
    }
    /// A signature was not verified, because Holdfast does not support its scheme or its key. Whether the file was
    /// altered is unknown.
    public static var unsupportedAlgorithm: Self {
        Self("Have it signed with keys of Ed25519, P-256, P-384 or RSA, and take the other keys out of the role.")
    }
    /// The program or closure that signs with a key in a token or a key service returned no signature.
    public static var signerFailed: Self { Self("Find out why it did not sign, and try again; nothing was changed.") }
    /// The program or closure that signs returned a signature that does not verify.
    public static var wrongSignature: Self { Self("Check which key it signs with; nothing was changed.") }
    /// The key does not belong to the role.
    public static var otherKey: Self { Self("Give the key of a role that signs it.") }
    /// A draft does not have the version after the published one, or no greater version is left.
    public static var wrongVersion: Self { Self("Prepare the change again: something else has been published since.") }
    /// Metadata or pins would not last long enough.
    public static var tooShort: Self { Self("Choose a longer lifetime.") }
    /// Clients would refuse the publication, either at the end or between two writes.
    public static var refusedByClients: Self { Self("Nothing was published; correct what the error names.") }
    /// `bundle.json` and the files have different versions: a publication was interrupted, or one of them was
    /// restored from a copy.
    public static var outOfStep: Self { Self("Publish again, or renew: that writes both.") }
    /// Another program wrote to the repository at the same time.
    public static var changedMeanwhile: Self { Self("Try again; it begins with what is there now.") }
    /// A file cannot be read or written.
    public static var storage: Self { Self("Check the folder's permissions and the free disk space.") }
    /// Metadata cannot be written: it is larger than clients accept, or a key failed.
    public static var cannotBeWritten: Self { Self("Check the keys and the published files.") }
}
