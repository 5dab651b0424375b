#if canImport(Security)
import Security

/// Whether the operating system is asked to check revocation (`SecPolicyCreateRevocation`). It fetches what it needs by
/// itself: a ``Revocation`` with lists is for ``PathValidator`` alone.
public enum SystemRevocation: Sendable, Hashable {
    /// The system's default.
    case system
    /// Revocation is checked by lists or responders, as available; a certificate passes if nobody responds.
    case checked
    /// Revocation is checked by lists or responders; a certificate with an unknown status is refused, so a network without them refuses every
    /// server.
    case required
    /// What the system can tell without the network: it fetches neither lists, nor answers of responders, nor intermediates
    /// that the server left out (`SecTrustSetNetworkFetchAllowed`). For processes whose connections are all accounted for;
    /// a server that leaves an intermediate out is refused then, unless the system has it already.
    case withoutNetwork

    /// nil where the system is not asked; inner nil where it makes no policy.
    var policy: SecPolicy?? {
        switch self {
        case .system, .withoutNetwork: nil
        case .checked: .some(SecPolicyCreateRevocation(kSecRevocationUseAnyAvailableMethod))
        case .required:
            .some(
                SecPolicyCreateRevocation(
                    kSecRevocationUseAnyAvailableMethod | kSecRevocationRequirePositiveResponse))
        }
    }
}
#endif
