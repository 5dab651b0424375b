import Holdfast

/// What BoringSSL is to verify on a connection of the pool before Holdfast decides about it: as much as can be verified
/// without refusing what the policy accepts, so that an error in one of the two is caught by the other.
enum ConnectionVerification: Int, Sendable, Comparable {
    /// Nothing: what Holdfast says afterwards is the only gate.
    case none
    /// The chain against the policy's anchors.
    case chain
    /// The chain and the host.
    case chainAndHost

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// What a policy bears; nil stands for a host without one, where standard validation decides.
    init(for policy: (any TrustPolicy)?) {
        switch policy?.evidence {
        case nil, .pathForHost: self = .chainAndHost
        case .path: self = .chain
        case .nothing, .leaf, .chain: self = .none
        }
    }

    /// As much of this as BoringSSL can do with these anchors and this route.
    ///
    /// It builds paths to self-signed anchors only (it has no partial chains here), and takes the address of the socket
    /// for an address that was dialled, which is the proxy's where there is one.
    func possible(anchors: TrustAnchors, dialsAddressElsewhere: Bool) -> ConnectionVerification {
        guard anchors.certificates.allSatisfy(\.isSelfIssued) else { return .none }
        return dialsAddressElsewhere ? min(self, .chain) : self
    }
}
