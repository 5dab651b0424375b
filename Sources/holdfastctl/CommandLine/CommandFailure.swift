import Foundation

/// Why a command fails, with the message for standard error.
struct CommandFailure: Error {
    /// The exit codes that scripts may rely on.
    enum Status: Int32 {
        case negativeAnswer = 1
        case wrongUsage = 2
        case couldNotFindOut = 3
        /// All is well now, but something ends soon.
        case endsSoon = 4
        /// The certificate or document in use ends before its replacement may be used.
        case servedEndsFirst = 5
    }

    /// The reason for the failure. The raw values are stable, because they are part of machine-readable output.
    enum Code: String {
        case notTrusted, wrongUsage, resolveFailed, unreachable, unroutable, timedOut, handshakeFailed, refused,
            noAnchors, unreadableFile
        case unusableClientCertificate, refusedBeforeTLS, failedBeforeTLS, addressNotAllowed, tooManyAddresses,
            otherKeyUnknown
        case notSigned, invalidList, unwritableFile, downloadFailed, signerFailed
        /// A document names no host that can be dialed, so nothing can be found out.
        case nothingToAsk
    }

    let code: Code
    let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    var status: Status {
        switch code {
        case .notTrusted, .notSigned, .invalidList: .negativeAnswer
        case .wrongUsage: .wrongUsage
        case .resolveFailed, .unreachable, .unroutable, .timedOut, .handshakeFailed, .refused, .noAnchors,
            .unreadableFile, .unusableClientCertificate, .refusedBeforeTLS, .failedBeforeTLS, .addressNotAllowed,
            .tooManyAddresses, .otherKeyUnknown, .unwritableFile, .downloadFailed, .signerFailed, .nothingToAsk:
            .couldNotFindOut
        }
    }

    /// The system's message for one of its errors.
    static func reason(_ number: Int32) -> String { unsafe String(cString: strerror(number)) }
}

/// Ends a command that has printed everything already, with the exit code of a negative answer or worse.
struct NegativeAnswer: Error {
    var status = CommandFailure.Status.negativeAnswer
}
