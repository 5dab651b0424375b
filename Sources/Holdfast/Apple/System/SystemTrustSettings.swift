#if canImport(Security)
import Foundation
import Security

/// What was set on a `SecTrust` before an evaluation, to be set again after it.
struct SystemTrustSettings {
    private let policies: CFArray
    /// nil where the application set none.
    private let anchors: CFArray?
    /// 0 where the system says that there is none.
    private let date: CFAbsoluteTime
    /// The system keeps it in the policies, so that it is there again with them.
    let allowsNetworkFetch: Bool

    /// nil when the trust does not say.
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
    ///   - date: whether it was changed. A trust without one is given the time of its first evaluation by the system, and
    ///     no call takes that away again.
    ///   - anchors: whether they were changed. Setting none also says that the system's count again. If the application
    ///     had set some, they are then the only ones, because the system does not tell whether its own counted too.
    func restore(to trust: SecTrust, date isDateChanged: Bool, anchors areAnchorsChanged: Bool) {
        _ = SecTrustSetPolicies(trust, policies as CFTypeRef)
        if areAnchorsChanged { _ = SecTrustSetAnchorCertificates(trust, anchors) }
        if isDateChanged, date != 0 {
            _ = SecTrustSetVerifyDate(trust, Date(timeIntervalSinceReferenceDate: date) as CFDate)
        }
    }
}
#endif
