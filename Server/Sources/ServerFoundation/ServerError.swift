package import Holdfast

/// The error of an operation that the server refuses or cannot complete.
package struct ServerError: HoldfastError {
    /// The error codes, a set that may grow.
    package typealias Code = OpenCode<ServerError>

    /// The error code.
    package let code: Code
    /// The subject, such as a field, a file or an app; nil if the facts name it.
    package let subject: String?
    /// The expected and the found value, and the remedy.
    package let facts: ErrorFacts

    package init(_ code: Code, of subject: String? = nil, expected: String, found: String, remedy: String? = nil) {
        self.code = code
        self.subject = subject
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy ?? code.usualRemedy)
    }

    /// Translates errors of other parts of Holdfast.
    package static func translating<Value, Failure: HoldfastError>(
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
    package var description: String {
        "\(code.rawValue)\(subject.map { " of \($0)" } ?? ""): expected \(expected), found \(found). \(remedy)"
    }
}

extension ServerError.Code {
    /// A text or a document is not in its canonical form.
    package static var malformed: Self { Self(rawValue: "malformed") }
    /// A value is outside what its field allows.
    package static var invalidValue: Self { Self(rawValue: "invalidValue") }
    /// A signature does not verify, or is by a key that is not permitted here.
    package static var invalidSignature: Self { Self(rawValue: "invalidSignature") }
    /// A signature was not verified, because its algorithm or its signer's kind of key is not supported. The file may
    /// be authentic or altered.
    package static var unsupportedAlgorithm: Self { Self(rawValue: "unsupportedAlgorithm") }
    /// A passkey signed without user verification.
    package static var userNotVerified: Self { Self(rawValue: "userNotVerified") }
    /// A passkey's sign count has not increased: a response was replayed, or another person has a copy of the passkey.
    package static var counterNotRisen: Self { Self(rawValue: "counterNotRisen") }
    /// Fewer valid signatures than required.
    package static var notApproved: Self { Self(rawValue: "notApproved") }
    /// The approval is for another server, app, change, content or set of approvers, or has expired.
    package static var notForThis: Self { Self(rawValue: "notForThis") }
    /// An approver has rejected the change.
    package static var rejected: Self { Self(rawValue: "rejected") }
    /// A chain of approvers or an audit does not continue the known part, or was rewritten.
    package static var brokenChain: Self { Self(rawValue: "brokenChain") }
    /// The current state does not allow the step.
    package static var outOfTurn: Self { Self(rawValue: "outOfTurn") }
    /// A private key cannot be opened with this secret, or does not match its stored identity.
    package static var sealedKey: Self { Self(rawValue: "sealedKey") }
    /// The secret file is unusable or unsafe.
    package static var secretFile: Self { Self(rawValue: "secretFile") }
    /// A file or folder cannot be read or written.
    package static var file: Self { Self(rawValue: "file") }
    /// A backup is being restored: nothing is signed until that is complete.
    package static var restoring: Self { Self(rawValue: "restoring") }
    /// Another server uses the folder.
    package static var folderInUse: Self { Self(rawValue: "folderInUse") }
    /// The database is damaged, or belongs to another program.
    package static var damagedDatabase: Self { Self(rawValue: "damagedDatabase") }
    /// The database was written by a newer version of this program.
    package static var newerDatabase: Self { Self(rawValue: "newerDatabase") }
    /// The disk or the database is full.
    package static var fullDatabase: Self { Self(rawValue: "fullDatabase") }
    /// The database is read-only.
    package static var readOnlyDatabase: Self { Self(rawValue: "readOnlyDatabase") }
    /// Another program has locked the database for too long.
    package static var lockedDatabase: Self { Self(rawValue: "lockedDatabase") }
    /// A row would violate a constraint of the database.
    package static var constraint: Self { Self(rawValue: "constraint") }
    /// The database failed for another reason.
    package static var database: Self { Self(rawValue: "database") }
    /// The database of another machine does not respond, or denies access to the server.
    package static var unreachableDatabase: Self { Self(rawValue: "unreachableDatabase") }
    /// The connection to the database broke during a commit, with an unknown outcome.
    package static var commitInDoubt: Self { Self(rawValue: "commitInDoubt") }
    /// A server uses the database exclusively, or serves while its tables would have to change.
    package static var databaseInUse: Self { Self(rawValue: "databaseInUse") }
    /// The server moved to another database, and its folder is no longer in use.
    package static var moved: Self { Self(rawValue: "moved") }
    /// A named object does not exist.
    package static var notFound: Self { Self(rawValue: "notFound") }
    /// A content cannot be published as it is: a document cannot be made, or clients would refuse it.
    package static var notPublishable: Self { Self(rawValue: "notPublishable") }
    /// A gate refuses a change.
    package static var gate: Self { Self(rawValue: "gate") }
    /// A signer program did not sign: it refused, could not be started, failed, timed out, or printed something else.
    package static var signerProgram: Self { Self(rawValue: "signerProgram") }
    /// An upload program failed: it could not be started, timed out, or reported a wrong result.
    package static var placeProgram: Self { Self(rawValue: "placeProgram") }
    /// The clock is before the last signed time, or too far from the expected time.
    package static var clock: Self { Self(rawValue: "clock") }

    /// Whether the database cannot be written, but may be readable.
    package var saysUnwritable: Bool { [.fullDatabase, .readOnlyDatabase, .lockedDatabase].contains(self) }

    /// The code for another part's error about a signature: an unsupported algorithm is not reported as an invalid
    /// signature.
    package func unlessUnsupported(_ error: some HoldfastError) -> Self {
        let isUnsupported = error.code.rawValue == Self.unsupportedAlgorithm.rawValue
        return self == .invalidSignature && isUnsupported ? .unsupportedAlgorithm : self
    }

    /// The default remedy.
    package var usualRemedy: String { Self.remedies[rawValue] ?? "Correct what the error names." }

    private static let remedies = [
        "malformed": "Send it exactly as the program wrote it.",
        "invalidValue": "Correct the field that the error names.",
        "invalidSignature": "Sign the text again with the key of an approver.",
        "unsupportedAlgorithm": "Have it signed with keys of Ed25519, P-256, P-384 or RSA.",
        "userNotVerified": "Use the passkey again, with its PIN or your finger.",
        "counterNotRisen":
            "Use the passkey again. If that fails too, remove the passkey: another person may have a copy of it.",
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
