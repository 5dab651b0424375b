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
        switch policy?.unobserved {
        case nil:
            self = .chainAndHost
        case let standard as StandardPolicy:
            self = standard.validatesHostName ? .chainAndHost : .chain
        case let pinned as PinnedPolicy:
            if pinned.certificatePinOnly {
                self = .none
            } else {
                self = pinned.validatesHostName ? .chainAndHost : .chain
            }
        case let online as TrustServerPolicy:
            if online.certificatePinOnly {
                self = .none
            } else {
                self = online.validatesHostName ? .chainAndHost : .chain
            }
        case let composite as CompositePolicy:
            let members = composite.members.map { ConnectionVerification(for: $0) }
            // Whatever one of all the members refuses is refused; whatever one of any accepts is accepted.
            self = (composite.rule == .all ? members.max() : members.min()) ?? .none
        default:
            // Disabled, custom, an application's own kind, a configuration in error.
            self = .none
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

extension TrustPolicy {
    /// Whether this leaf alone is enough for the policy, so that no evidence about it is needed: nothing else is asked,
    /// or its own pin is, and its key the pool's handshake has proved.
    func isSatisfied(byLeafAlone leaf: [UInt8]) -> Bool {
        switch unobserved {
        case is DisabledPolicy:
            return true
        case let pinned as PinnedPolicy where pinned.certificatePinOnly:
            guard let certificate = try? X509Certificate(der: leaf) else { return false }
            return pinned.pins.contains(certificate.publicKeyPin) || pinned.pins.contains(certificate.certificatePin)
        default:
            return false
        }
    }
}
