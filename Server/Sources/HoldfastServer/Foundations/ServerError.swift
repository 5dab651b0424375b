public import Holdfast

/// Why the server refuses something, or cannot do it.
public struct ServerError: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<ServerError>

    /// The reason.
    public let code: Code
    /// What it is about, such as a field, a file or an app; nil if the facts say so.
    public let subject: String?
    /// What would have been right, what was found instead, and what to do.
    public let facts: ErrorFacts

    init(_ code: Code, of subject: String? = nil, expected: String, found: String, remedy: String? = nil) {
        self.code = code
        self.subject = subject
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy ?? code.usualRemedy)
    }

    /// Takes over what another part of Holdfast says.
    static func translating<Value, Failure: HoldfastError>(
        _ code: Code, of subject: String, _ body: () throws(Failure) -> Value
    ) throws(ServerError) -> Value {
        do throws(Failure) {
            return try body()
        } catch {
            throw ServerError(
                code.unlessUnsupported(error), of: subject, expected: error.expected, found: error.found,
                remedy: error.remedy)
        }
    }

    /// `code of SUBJECT: expected …, found …. Remedy.`
    public var description: String {
        "\(code.rawValue)\(subject.map { " of \($0)" } ?? ""): expected \(expected), found \(found). \(remedy)"
    }
}

extension ServerError.Code {
    /// A text or a document is not in its one canonical form.
    public static var malformed: Self { Self(rawValue: "malformed") }
    /// A value is outside what its field allows.
    public static var invalidValue: Self { Self(rawValue: "invalidValue") }
    /// A signature does not verify, or is by a key that does not count here.
    public static var invalidSignature: Self { Self(rawValue: "invalidSignature") }
    /// A signature was not verified, because its algorithm or its signer's kind of key is not supported. Whether the file
    /// was altered is unknown.
    public static var unsupportedAlgorithm: Self { Self(rawValue: "unsupportedAlgorithm") }
    /// A passkey signed without a person whom its authenticator knows.
    public static var userNotVerified: Self { Self(rawValue: "userNotVerified") }
    /// A passkey says that it has signed less often than before: something was replayed, or somebody has a copy of it.
    public static var counterNotRisen: Self { Self(rawValue: "counterNotRisen") }
    /// Fewer valid signatures than the number requires.
    public static var notApproved: Self { Self(rawValue: "notApproved") }
    /// The approval is for another server, app, change, content or set of approvers, or its time is over.
    public static var notForThis: Self { Self(rawValue: "notForThis") }
    /// An approver has rejected the change.
    public static var rejected: Self { Self(rawValue: "rejected") }
    /// A chain of approvers or an audit does not continue from what is known, or was rewritten.
    public static var brokenChain: Self { Self(rawValue: "brokenChain") }
    /// A step that the state does not allow, or by somebody whose turn is over.
    public static var outOfTurn: Self { Self(rawValue: "outOfTurn") }
    /// A private key cannot be opened with this secret, or is not the one it is stored as.
    public static var sealedKey: Self { Self(rawValue: "sealedKey") }
    /// The file of the secret is not usable or not safe.
    public static var secretFile: Self { Self(rawValue: "secretFile") }
    /// A file or folder cannot be read or written.
    public static var file: Self { Self(rawValue: "file") }
    /// A backup is being restored: nothing is signed until that is complete.
    public static var restoring: Self { Self(rawValue: "restoring") }
    /// Another server uses the folder.
    public static var folderInUse: Self { Self(rawValue: "folderInUse") }
    /// The database is damaged, or is no database of this program.
    public static var damagedDatabase: Self { Self(rawValue: "damagedDatabase") }
    /// The database was written by a newer version of this program.
    public static var newerDatabase: Self { Self(rawValue: "newerDatabase") }
    /// The disk or the database is full.
    public static var fullDatabase: Self { Self(rawValue: "fullDatabase") }
    /// The database cannot be written.
    public static var readOnlyDatabase: Self { Self(rawValue: "readOnlyDatabase") }
    /// Another program has locked the database for too long.
    public static var lockedDatabase: Self { Self(rawValue: "lockedDatabase") }
    /// A row would violate a rule of the database.
    public static var constraint: Self { Self(rawValue: "constraint") }
    /// The database refused for another reason.
    public static var database: Self { Self(rawValue: "database") }
    /// The database of another machine does not answer, or does not let the server in.
    public static var unreachableDatabase: Self { Self(rawValue: "unreachableDatabase") }
    /// The connection to the database broke during a commit, and nobody can tell whether that was written.
    public static var commitInDoubt: Self { Self(rawValue: "commitInDoubt") }
    /// A server has the database alone, or serves while somebody would change its tables.
    public static var databaseInUse: Self { Self(rawValue: "databaseInUse") }
    /// The server went to another database, and its folder is left behind.
    public static var moved: Self { Self(rawValue: "moved") }
    /// Something that was named does not exist.
    public static var notFound: Self { Self(rawValue: "notFound") }
    /// A content cannot be published as it is: a document of it cannot be made, or clients would refuse it.
    public static var notPublishable: Self { Self(rawValue: "notPublishable") }
    /// A gate refuses a change.
    public static var gate: Self { Self(rawValue: "gate") }
    /// A signer program did not sign: it refused, could not be started, failed, took too long, or printed something else.
    public static var signerProgram: Self { Self(rawValue: "signerProgram") }
    /// A program that uploads did not: it could not be started, failed, took too long, or said what is not so.
    public static var placeProgram: Self { Self(rawValue: "placeProgram") }
    /// The clock stands before the last signed time, or too far from what is known.
    public static var clock: Self { Self(rawValue: "clock") }

    /// Whether it says that the database cannot be written, and may be readable all the same.
    var saysUnwritable: Bool { [.fullDatabase, .readOnlyDatabase, .lockedDatabase].contains(self) }

    /// The code for what another part of Holdfast says about a signature: one of an algorithm that is not supported is
    /// not called invalid.
    func unlessUnsupported(_ error: some HoldfastError) -> Self {
        let isUnsupported = error.code.rawValue == Self.unsupportedAlgorithm.rawValue
        return self == .invalidSignature && isUnsupported ? .unsupportedAlgorithm : self
    }

    /// What usually helps.
    var usualRemedy: String { Self.remedies[rawValue] ?? "Correct what the error names." }

    private static let remedies = [
        "malformed": "Send it exactly as the program wrote it.",
        "invalidValue": "Correct the field that the error names.",
        "invalidSignature": "Sign the text again with the key of an approver.",
        "unsupportedAlgorithm": "Have it signed with keys of Ed25519, P-256, P-384 or RSA.",
        "userNotVerified": "Use the passkey again, with its PIN or your finger.",
        "counterNotRisen": "Use the passkey again. If that fails too, remove it: somebody may have a copy.",
        "notApproved": "Wait until enough approvers have decided.",
        "notForThis": "Fetch the change again, and approve what the server shows now.",
        "rejected": "A rejection is final. Ask the approver why, and decide whether to propose another change.",
        "brokenChain":
            "A person must decide: stop publishing, find out who wrote to the database, and restore a backup whose "
            + "head is known.",
        "outOfTurn": "Read the state again before the next step.",
        "sealedKey": "Give the secret with which the key was sealed, or restore the key from a backup.",
        "secretFile": "Put the file back that holdfast-server init wrote, with mode 0600, outside the data folder.",
        "file": "Check the path, its permissions and the free space.",
        "restoring": "Run the same holdfast-server restore again until it says that the server may start.",
        "folderInUse": "Stop the other server, or give this one a folder of its own.",
        "damagedDatabase": "Restore the last backup; the documents that were served last are still in the folder.",
        "newerDatabase": "Use the version of the program that wrote it, or a newer one.",
        "fullDatabase": "Free some space; nothing was half written.",
        "readOnlyDatabase": "Give the user of the server write access to the data folder.",
        "lockedDatabase": "End the program that holds the database, such as a shell with an open transaction.",
        "constraint": "Read the current state, and try again with what it allows.",
        "database": "Look at the error, and run `holdfast-server doctor --data DIR`.",
        "unreachableDatabase": "Check that the database runs and can be reached; everything is tried again.",
        "commitInDoubt": "Read the current state before doing it again; it shows whether it was written.",
        "databaseInUse": "Stop the server of the older version, or wait until the tables are changed.",
        "moved": "Name the folder that the server was moved to.",
        "notFound": "Check the name.",
        "notPublishable": "Correct the content, and propose the change again.",
        "gate": "Propose a change that passes the gate. A person must decide whether to --force it.",
        "signerProgram": "Run the program by hand, and read its own log; nothing was published.",
        "placeProgram": "Run the program by hand, and read its own log; it is started again after a pause.",
        "clock":
            "Correct the clock of the machine. If it is right, say so: `holdfast-server resume --clock --data DIR`.",
    ]
}
