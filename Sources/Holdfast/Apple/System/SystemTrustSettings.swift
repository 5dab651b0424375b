#if canImport(Security)
import Foundation
import Security

/// What was set on a `SecTrust` before an evaluation, to be restored after it.
struct SystemTrustSettings {
    private let policies: CFArray
    /// nil if the application set none.
    private let anchors: CFArray?
    /// 0 if the system says that there is none.
    private let date: CFAbsoluteTime
    /// The system keeps it in the policies, so it is restored with them.
    let allowsNetworkFetch: Bool

    /// nil if the trust does not say.
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

    /// Each of these calls discards the result of the evaluation.
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
