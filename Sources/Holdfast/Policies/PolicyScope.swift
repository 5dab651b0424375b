/// The hosts or clients that a ``TrustPolicy`` applies to; a ``TrustManager`` finds the policy by it.
public enum PolicyScope: Sendable, Hashable {
    /// The hosts of a pattern, which may be one exact name.
    case hosts(HostPattern)
    /// The clients of a mutual TLS server. The name is for decisions and logs.
    case clients(String)
    /// No host: the name is neither a host nor a pattern. Such a policy is found by equality of its name.
    case nothing(String)

    /// Reads a name as your own policies state it: a host, a pattern, or a URL, of which only the host is used.
    public init(hostName: String) {
        self = (try? HostPattern(publishedName: hostName)).map(Self.hosts) ?? .nothing(hostName)
    }

    /// The canonical name of the host or pattern, any other name as given.
    public var name: String {
        switch self {
        case .hosts(let pattern): pattern.description
        case .clients(let name), .nothing(let name): name
        }
    }

    /// The host for which to evaluate a trust; nil for a client.
    ///
    /// If a trust has no host (a bare `SecTrust`), an exact policy assumes that it is for the policy's one host. A
    /// pattern cannot know which of its hosts was dialed, and the peer's certificate must not decide that.
    /// - Throws: a ``TrustFailure`` with which to reject, if the policy is not for this trust.
    public func host(of trust: ServerTrust) throws(TrustFailure) -> DialedHost? { try purpose(of: trust).host }

    /// The purpose for which to validate a trust, with the host determined as by ``host(of:)``: the host of a server is
    /// never nil.
    /// - Throws: a ``TrustFailure`` with which to reject, if the policy is not for this trust.
    public func purpose(of trust: ServerTrust) throws(TrustFailure) -> ValidationPurpose {
        switch (self, trust.purpose) {
        case (.nothing, _):
            throw TrustFailure(
                .hostNotCovered, expected: "a policy for a host", found: "the name \(name.quotedAddress)")
        case (.clients, .server):
            throw TrustFailure(.hostNotCovered, expected: "a client", found: "a server")
        case (.hosts, .extendedKeyUsage(let identifier)):
            throw TrustFailure(.hostNotCovered, expected: "a server", found: "a certificate for \(identifier.quoted)")
        case (_, .client), (.clients, .extendedKeyUsage):
            return trust.purpose
        case (.hosts(let pattern), .server(let host?)):
            guard pattern.matches(host) else {
                throw TrustFailure(.hostNotCovered, expected: "a host covered by \(pattern)", found: host.name)
            }
            return trust.purpose
        case (.hosts(let pattern), .server(nil)):
            guard pattern.scope == .exact else {
                throw .hostUnknown(expected: "the host that was dialed, one of \(pattern)")
            }
            return .server(identity: pattern.base)
        }
    }
}

extension TrustFailure {
    static func hostUnknown(expected: String) -> TrustFailure {
        TrustFailure(.hostUnknown, expected: expected, found: "a trust without a host")
    }
}

extension HostPattern {
    /// Reads a host as the published interfaces accept it: a host, a pattern, or a URL, of which only the host is used.
    ///
    /// - Throws: ``HostPatternError``.
    package init(publishedName text: String, allowingTopLevel: Bool = false) throws(HostPatternError) {
        guard text.contains("://") else {
            try self.init(text, allowingTopLevel: allowingTopLevel)
            return
        }
        do throws(HostError) {
            self.init(try DialedHost(publishedHostName: text))
        } catch {
            throw HostPatternError(error, in: text)
        }
    }
}
