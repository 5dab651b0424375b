import Holdfast

/// What BoringSSL verifies on a pooled connection before Holdfast decides: as much as possible without refusing what
/// the policy accepts, so that each of the two catches errors of the other.
enum ConnectionVerification: Int, Sendable, Comparable {
    /// Nothing: what Holdfast says afterward is the only gate.
    case none
    /// The chain against the policy's anchors.
    case chain
    /// The chain and the host.
    case chainAndHost

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The strictest verification that a policy allows; nil stands for a host without a policy, where standard
    /// validation decides.
    init(for policy: (any TrustPolicy)?) {
        switch policy?.evidence {
        case nil, .pathForHost: self = .chainAndHost
        case .path: self = .chain
        case .nothing, .leaf, .chain: self = .none
        }
    }

    /// The part of this that BoringSSL can do with these anchors and this route.
    ///
    /// It builds paths to self-signed anchors only (it has no partial chains here), and takes the address of the socket
    /// for an address that was dialed, which is the proxy's where there is one.
    func possible(anchors: TrustAnchors, dialsAddressElsewhere: Bool) -> ConnectionVerification {
        guard anchors.certificates.allSatisfy(\.isSelfIssued) else { return .none }
        return dialsAddressElsewhere ? min(self, .chain) : self
    }
}
