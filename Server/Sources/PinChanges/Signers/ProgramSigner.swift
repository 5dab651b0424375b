import ServerApprovals
import ServerFoundation
import ServerModel
import ServerStore

/// A signing key that a program of the operator holds, bound to one approved content.
struct ProgramSigner: Sendable {
    let key: SealedKey.Place
    /// DER of its SubjectPublicKeyInfo.
    let publicKey: [UInt8]
    let program: ProgramCommand
    let content: Content
    let approved: ApprovedSubject

    /// The length of a signature by an RSA key of 8,192 bits. Longer output is text.
    private static let maximumSignature = 1_024
    /// The exit code with which a program refuses to sign.
    private static let refusal: Int32 = 1

    /// Asks the program to sign. Blocks the thread. The caller must verify the signature.
    /// - Parameters:
    ///   - message: the bytes; the program hashes them itself.
    ///   - use: what they are.
    ///   - document: the document whose digest they contain; nil if they are complete by themselves.
    /// - Throws: ``ServerError`` `signerProgram`.
    func signature(
        of message: [UInt8], for use: SigningRequest.Use, document: [UInt8]? = nil
    ) throws(ServerError) -> [UInt8] {
        let request = SigningRequest(
            key: key, publicKey: publicKey, use: use, content: content, approved: approved, message: message,
            document: document)
        return try bytes(
            of: ProgramRun.runBlocking(program, input: request.bytes, output: .atMost(Self.maximumSignature)),
            for: use)
    }

    /// The output of a program, unverified.
    /// - Throws: ``ServerError`` `signerProgram` if it did not sign.
    func bytes(of end: ProgramRun.End, for use: SigningRequest.Use) throws(ServerError) -> [UInt8] {
        switch end {
        case .ended(code: 0, let bytes) where !bytes.isEmpty: return bytes
        case .ended(code: Self.refusal, _):
            throw failure(
                "that it signs a \(use.rawValue)", "that it refuses (exit code \(Self.refusal))",
                remedy: "Read the program's own log: it needs approvals of this content that it can verify.")
        case .ended(code: 0, _): throw failure("a signature on its standard output", "nothing")
        case .ended(let code, _): throw failure("that it ends with exit code 0", "exit code \(code)")
        case .signaled(let signal): throw failure("that it ends by itself", "that signal \(signal) ended it")
        case .printedTooMuch:
            throw failure("a signature of at most \(Self.maximumSignature) bytes", "more")
        case .timedOut: throw failure("a signature within \(program.limit) s", "none; the program was ended")
        case .notStarted(let reason): throw failure("a program that can be started", reason)
        }
    }

    private func failure(_ expected: String, _ found: String, remedy: String? = nil) -> ServerError {
        ServerError(
            .signerProgram, of: "key \(key.id)", expected: "\(expected), from \(program.path)", found: found,
            remedy: remedy)
    }
}
