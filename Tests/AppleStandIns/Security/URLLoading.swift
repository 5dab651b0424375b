import Foundation
public import FoundationNetworking

public let NSURLAuthenticationMethodServerTrust = "NSURLAuthenticationMethodServerTrust"

/// What a connection's challenge has: on Linux a protection space knows no trust.
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

    /// What the tests look at.
    public func isFor(_ trust: SecTrust) -> Bool {
        user == "server trust" && password == "\(ObjectIdentifier(trust))"
    }
}
