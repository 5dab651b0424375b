import Foundation
import Holdfast
import HoldfastNIO
import NIOCore
import NIOPosix
import NIOSSL

/// Describes the errors of the network, of proxies and of TLS.
struct ConnectionFailures {
    private let target: Handshake.Target
    private let deadlines: ProbeDeadlines

    init(_ target: Handshake.Target, _ deadlines: ProbeDeadlines) {
        self.target = target
        self.deadlines = deadlines
    }

    func failure(ofConnecting error: any Error) -> ProbeFailure {
        let place = target.place
        let errors = (error as? NIOConnectionError).map { $0.connectionErrors.map(\.error) } ?? [error]
        if let error = error as? NIOConnectionError, errors.isEmpty { return .noAddress(of: error.host) }
        if errors.allSatisfy(Self.isTimeout) {
            let limit = deadlines.connecting.inWords
            return ProbeFailure(
                .timedOut, at: place, expected: "a connection within \(limit)", found: "none",
                sentence: "\(place) did not answer within \(limit)")
        }
        let reasons = errors.map(reason).joined(separator: "; ")
        return ProbeFailure(
            errors.allSatisfy(Self.isUnroutable) ? .unroutable : .unreachable, at: place, expected: "a connection",
            found: reasons, sentence: "cannot connect to \(place): \(reasons)")
    }

    private static func isTimeout(_ error: any Error) -> Bool {
        if case ChannelError.connectTimeout = error { true } else { false }
    }

    /// Whether this machine has no route to the address, for example because it has no IPv6.
    private static func isUnroutable(_ error: any Error) -> Bool {
        [ENETUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT].contains((error as? IOError)?.errnoCode)
    }

    private func reason(_ error: any Error) -> String {
        if Self.isTimeout(error) { return "no answer within \(deadlines.connecting.inWords)" }
        return ConnectionErrorText.text(error)
    }

    func failure(ofHandshake error: any Error) -> ProbeFailure {
        let place = target.destination
        if let error = error as? DialogueFailure {
            let code: ProbeFailure.Code =
                switch error.kind {
                case .refused: .refusedBeforeTLS
                case .timedOut: .timedOut
                case .malformed, .tooLong, .extraBytes, .ended: .failedBeforeTLS
                }
            return ProbeFailure(
                code, at: place, expected: "a go-ahead for TLS", found: error.message,
                sentence: "no TLS with \(place): \(error.message)")
        }
        if let error = error as? TLSAdapterError {
            return ProbeFailure(
                error.code == .handshakeTimedOut ? .timedOut : .handshakeFailed, at: place, expected: error.expected,
                found: error.found, sentence: "no TLS handshake with \(place): \(error)")
        }
        // In BoringSSL's messages, only the names are useful to people.
        let names = BoringSSLReason.names(in: error)
        let reason = names.isEmpty ? Self.end(of: error) ?? self.reason(error) : names.joined(separator: "; ")
        // The names of alerts that the peer sent.
        let isAlert = names.contains { $0.hasPrefix("SSLV3_ALERT_") || $0.hasPrefix("TLSV1_") }
        var failure = ProbeFailure(
            isAlert ? .refused : .handshakeFailed, at: place, expected: "a TLS handshake", found: reason,
            sentence: "no TLS handshake with \(place): \(reason)")
        failure.saysNoSuchKey = names.contains(where: Self.refusalsOfKeys.contains)
        failure.saysWrongUse = (error as? TrustFailure)?.code == .keyUsageForbidsTLS
        return failure
    }

    /// A description if the server closed the connection without sending any TLS; nil for other errors.
    private static func end(of error: any Error) -> String? {
        switch error as? NIOSSLError {
        case .uncleanShutdown, .handshakeFailed(.zeroReturn), .handshakeFailed(.syscallError),
            .handshakeFailed(.sslError):
            "the server closed the connection"
        default: nil
        }
    }

    /// The errors which show that a server has no key of the requested kind: the alerts handshake_failure,
    /// unsupported_certificate and insufficient_security (RFC 8446 6.2), and the client's own error if the server uses
    /// another kind nevertheless.
    ///
    /// A connection that is only closed proves nothing, although some servers with one kind of key do that: Windows
    /// (Schannel) resets the connection, and s2n, which serves CloudFront and other load balancers of AWS, closes it. A
    /// server that has both kinds and hides one would look the same.
    private static let refusalsOfKeys: Set = [
        "SSLV3_ALERT_HANDSHAKE_FAILURE", "SSLV3_ALERT_UNSUPPORTED_CERTIFICATE", "TLSV1_ALERT_INSUFFICIENT_SECURITY",
        "WRONG_CERTIFICATE_TYPE", "WRONG_SIGNATURE_TYPE", "NO_COMMON_SIGNATURE_ALGORITHMS",
    ]
}

extension Duration {
    /// `10 s`.
    var inWords: String {
        let milliseconds = components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
        return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
    }
}

extension ProbeFailure {
    /// Whether a server does not have the requested kind of key. A server that presented a key of the wrong use to a
    /// request for RSA has an RSA key. If the request was for ECDSA, the key is an RSA key as well, with TLS 1.2 and
    /// RSA key exchange.
    func saysNoKey(of offer: KeyOffer) -> Bool { saysNoSuchKey || saysWrongUse && offer == .ecdsa }

    /// The same failure for a connection that requested the other kind of key.
    func ofOtherKey(_ offer: KeyOffer) -> ProbeFailure {
        let kind = offer == .rsa ? "RSA" : "ECDSA"
        let end = [.handshakeFailed, .refused].contains(code) ? found : sentence
        return ProbeFailure(
            .otherKeyUnknown, at: place,
            expected: "a certificate with a key for \(kind), or an alert that there is none",
            found: end, sentence: "nobody knows whether \(place) has a key for \(kind) as well: \(end)")
    }
}
