/// What a policy is for: a host or a pattern of hosts, the clients of a server, or nothing, because its name is neither.
enum PolicyScope: Sendable, Hashable {
    case hosts(HostPattern)
    case clients(String)
    /// As given; such a policy rejects everything and is found by the equality of its name.
    case nothing(String)

    /// The canonical name of the host or pattern, any other name as given.
    var name: String {
        switch self {
        case .hosts(let pattern): pattern.description
        case .clients(let name), .nothing(let name): name
        }
    }

    /// Whom a trust is judged as, once it is settled that the policy is for it.
    ///
    /// A trust without a host (a bare `SecTrust`) is taken to be for the one host of an exact policy; a pattern cannot
    /// know which of its hosts was dialled, and the peer's certificate must not say.
    func subject(of trust: ServerTrust) throws(TrustFailure) -> PolicySubject {
        switch (self, trust.purpose) {
        case (.nothing, _):
            throw TrustFailure(.hostNotCovered, expected: "a policy for a host", found: "the name \(name.quoted)")
        case (.clients, .server):
            throw TrustFailure(.hostNotCovered, expected: "a client", found: "a server")
        case (_, .client):
            return .client
        case (.hosts(let pattern), .server(let host?)):
            guard pattern.matches(host) else {
                throw TrustFailure(.hostNotCovered, expected: "a host covered by \(pattern)", found: host.name)
            }
            return .server(host)
        case (.hosts(let pattern), .server(nil)):
            guard pattern.scope == .exact else {
                throw .hostUnknown(expected: "the host that was dialled, one of \(pattern)")
            }
            return .server(pattern.base)
        }
    }
}

/// Whom a trust is judged as.
enum PolicySubject: Sendable, Hashable {
    case server(DialledHost)
    case client

    var host: DialledHost? {
        if case .server(let host) = self { host } else { nil }
    }

    func purpose(checkingHost: Bool) -> ValidationPurpose {
        switch self {
        case .server(let host): .server(identity: checkingHost ? host : nil)
        case .client: .client
        }
    }
}

/// A policy whose scope is known to the ``TrustManager`` without reading its name again.
protocol ScopedPolicy: TrustPolicy {
    var scope: PolicyScope { get }
}

extension TrustFailure {
    static func hostUnknown(expected: String) -> TrustFailure {
        TrustFailure(.hostUnknown, expected: expected, found: "a trust without a host")
    }
}

extension HostPattern {
    /// Reads a host as the published interfaces take it: a host, a pattern, or the text of a URL, which means its host.
    ///
    /// - Throws: ``HostPatternError``.
    init(publishedName text: String, allowingTopLevel: Bool = false) throws(HostPatternError) {
        guard text.contains("://") else {
            try self.init(text, allowingTopLevel: allowingTopLevel)
            return
        }
        do throws(HostError) {
            self.init(try DialledHost(publishedHostName: text))
        } catch {
            throw HostPatternError(error, in: text)
        }
    }
}
