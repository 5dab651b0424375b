#if canImport(Security)
import Foundation
import Security

/// The settings of a `SecTrust` before an evaluation, to be restored after it.
struct SystemTrustSettings {
    private let policies: CFArray
    /// The anchors; nil if the application set none.
    private let anchors: CFArray?
    /// The date; 0 if the trust has none.
    private let date: CFAbsoluteTime
    /// Whether the network may be used. The system keeps it in the policies, so it is restored with them.
    let allowsNetworkFetch: Bool

    /// - Returns: nil if the settings cannot be read.
    init?(of trust: SecTrust) {
        var policies: CFArray?
        var anchors: CFArray?
        guard unsafe SecTrustCopyPolicies(trust, &policies) == errSecSuccess, let policies,
            unsafe SecTrustCopyCustomAnchorCertificates(trust, &anchors) == errSecSuccess
        else { return nil }
        var allowsFetch = DarwinBoolean(true)
        guard unsafe SecTrustGetNetworkFetchAllowed(trust, &allowsFetch) == errSecSuccess else { return nil }
        allowsNetworkFetch = allowsFetch.boolValue
        self.policies = policies
        self.anchors = anchors
        date = SecTrustGetVerifyTime(trust)
    }

    /// Restores the settings. Each of these calls discards the result of the evaluation.
    /// - Parameters:
    ///   - date: whether it was changed. The system gives a trust without a date the time of its first evaluation, and
    ///     no call removes it again.
    ///   - anchors: whether they were changed. Setting none also makes the system's anchors count again. If the
    ///     application had set some, they are then the only ones, because the system does not reveal whether its own
    ///     counted too.
    func restore(to trust: SecTrust, date isDateChanged: Bool, anchors areAnchorsChanged: Bool) {
        _ = SecTrustSetPolicies(trust, policies as CFTypeRef)
        if areAnchorsChanged { _ = SecTrustSetAnchorCertificates(trust, anchors) }
        if isDateChanged, date != 0 {
            _ = SecTrustSetVerifyDate(trust, Date(timeIntervalSinceReferenceDate: date) as CFDate)
        }
    }
}
#endif
