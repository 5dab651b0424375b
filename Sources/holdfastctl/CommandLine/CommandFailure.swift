import Foundation

/// Why a command fails, with the message for standard error.
struct CommandFailure: Error {
    /// The exit codes that scripts may rely on.
    enum Status: Int32 {
        case negativeAnswer = 1
        case wrongUsage = 2
        case couldNotFindOut = 3
        /// It is as it should be now, but ends soon.
        case endsSoon = 4
    }

    /// What could not be done. The raw values are stable, because they are part of machine-readable output.
    enum Code: String {
        case notTrusted, wrongUsage, resolveFailed, unreachable, unroutable, timedOut, handshakeFailed, refused,
            noAnchors, unreadableFile
        case unusableClientCertificate, refusedBeforeTLS, failedBeforeTLS, addressNotAllowed, tooManyAddresses
        case notSigned, invalidList, unwritableFile, downloadFailed, signerFailed
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
            .tooManyAddresses, .unwritableFile, .downloadFailed, .signerFailed:
            .couldNotFindOut
        }
    }

    /// The system's words for one of its errors.
    static func reason(_ number: Int32) -> String { unsafe String(cString: strerror(number)) }
}

/// Ends a command that has printed everything already, with the exit code of a negative answer or worse.
struct NegativeAnswer: Error {
    var status = CommandFailure.Status.negativeAnswer
}
