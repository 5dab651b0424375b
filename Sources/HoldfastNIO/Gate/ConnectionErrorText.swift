import Foundation
import Holdfast
import NIOCore
import NIOPosix

/// Describes why a connection failed. The text of an error of NIO is not shown to users.
package enum ConnectionErrorText {
    /// The reason why one attempt failed.
    package static func text(_ error: any Error) -> String {
        switch (error as? IOError)?.errnoCode {
        case ECONNREFUSED: "connection refused"
        case ECONNRESET: "connection reset"
        case EHOSTUNREACH: "no route to the host"
        case ENETUNREACH: "no route to the network"
        case EADDRNOTAVAIL: "this machine has no address of that kind"
        case EAFNOSUPPORT: "this machine has no network of that kind"
        case ETIMEDOUT: "no answer"
        case let number?: unsafe String(cString: strerror(number))
        case nil: ForeignErrorText.found(error)
        }
    }

    /// The reason for each address of a host why it did not answer.
    /// - Parameter destination: the dialed destination; an error about a single address does not name it.
    /// - Returns: nil for an error of another kind.
    package static func text(ofConnecting error: any Error, to destination: String) -> String? {
        guard let error = error as? NIOConnectionError else {
            return error is IOError ? "\(destination): \(text(error))" : nil
        }
        guard !error.connectionErrors.isEmpty else { return "no address of \(error.host.quotedAddress)" }
        let attempts = error.connectionErrors.prefix(maximumAttempts).map { attempt in
            let reason =
                if case ChannelError.connectTimeout = attempt.error { "no answer" } else { text(attempt.error) }
            return "\(place(attempt.target)): \(reason)"
        }
        return attempts.joined(separator: "; ")
    }

    /// Maximum number of addresses in one message.
    private static let maximumAttempts = 8

    private static func place(_ address: SocketAddress) -> String {
        guard let text = address.ipAddress else { return "a socket" }
        return (try? DialedHost(text, port: address.port))?.description ?? text
    }
}
