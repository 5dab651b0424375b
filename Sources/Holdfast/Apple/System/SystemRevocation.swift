#if canImport(Security)
import Security

/// Whether the operating system checks revocation (`SecPolicyCreateRevocation`). It fetches what it needs by
/// itself: a ``Revocation`` with lists is only for ``PathValidator``.
public enum SystemRevocation: Sendable, Hashable {
    /// The system's default.
    case system
    /// Revocation is checked with lists or responders, as available; a certificate passes if none responds.
    case checked
    /// Revocation is checked with lists or responders; a certificate with an unknown status is refused, so every server
    /// is refused on a network from which none can be reached.
    case required
    /// Revocation is checked as far as possible without the network: the system fetches neither lists, nor responses of
    /// responders, nor intermediates that the server left out (`SecTrustSetNetworkFetchAllowed`). For processes that
    /// must not make any unexpected connection; a server that leaves out an intermediate is then refused, unless the
    /// system already has it.
    case withoutNetwork

    /// The policy to set; nil if the system's default applies, inner nil if the system makes no policy.
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
