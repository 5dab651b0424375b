/// What a handshake presented, for whom, and how to validate it: the value that a ``TrustPolicy`` judges.
///
/// On platforms without Security.framework `SecTrust` is another name for it. A value; safe to use from any thread.
public struct ServerTrust: Sendable {
    /// What the chain is to prove.
    public enum Purpose: Sendable, Hashable {
        /// A server, reached by dialling this host; nil where the caller did not say which (as with a bare `SecTrust`).
        case server(DialledHost?)
        /// A client of a mutual TLS server; clients are judged without a host.
        case client
    }

    /// The certificates as presented, leaf first.
    public let chain: PresentedChain
    /// What the chain is to prove.
    public let purpose: Purpose
    /// Who builds and validates paths: Holdfast with a set of anchors, or the operating system.
    public let validator: any ChainValidator

    /// Puts together what a handshake presented and how to validate it; nothing is read or verified yet.
    public init(chain: PresentedChain, purpose: Purpose, validator: any ChainValidator) {
        self.chain = chain
        self.purpose = purpose
        self.validator = validator
    }

    /// A server's chain, to be validated by Holdfast against the given anchors in the `.standard` profile.
    /// - Parameters:
    ///   - certificates: DER, leaf first, as presented.
    ///   - host: the host that was dialled.
    ///   - anchors: the certificates that are trusted to begin with.
    public init(certificates: [[UInt8]], host: DialledHost?, anchors: TrustAnchors) {
        self.init(
            chain: PresentedChain(certificates), purpose: .server(host), validator: PathValidator(anchors: anchors))
    }

    /// The host that was dialled; nil for a client and where the caller did not say.
    public var host: DialledHost? {
        if case .server(let host) = purpose { host } else { nil }
    }
}

#if !canImport(Security)
/// Code written against Security.framework's `SecTrust` compiles on other platforms with Holdfast's own value.
public typealias SecTrust = ServerTrust
#endif
