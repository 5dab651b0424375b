import Foundation
public import FoundationNetworking

public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"

/// A protection space with a server trust, which Foundation on Linux does not have.
public final class TrustProtectionSpace: URLProtectionSpace, @unchecked Sendable {
    let trust: SecTrust?

    public init(host: String, port: Int = 443, trust: SecTrust?) {
        self.trust = trust
        super.init(
            host: host, port: port, protocol: "https", realm: nil,
            authenticationMethod: NSURLAuthenticationMethodServerTrust)
    }

    required init?(coder: NSCoder) { nil }
}

extension URLProtectionSpace {
    public var serverTrust: SecTrust? { (self as? TrustProtectionSpace)?.trust }
}

extension URLCredential {
    public convenience init(trust: SecTrust) {
        self.init(user: "server trust", password: "\(ObjectIdentifier(trust))", persistence: .none)
    }

    /// Whether the credential is for this trust; the tests ask this.
    public func isFor(_ trust: SecTrust) -> Bool {
        user == "server trust" && password == "\(ObjectIdentifier(trust))"
    }
}
