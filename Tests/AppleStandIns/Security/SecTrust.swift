public import Dispatch
public import Foundation

public final class SecCertificate {
    let data: Data
    init(_ data: Data) { self.data = data }
}

public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    // Apple reads the certificate here; an outer SEQUENCE is as much as this one asks for.
    data.first == 0x30 ? SecCertificate(data) : nil
}

public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { certificate.data }

public final class SecPolicy {
    let isServer: Bool
    let host: String?
    /// nil for a policy of TLS.
    let revocationFlags: CFOptionFlags?
    var forbidsNetwork = false

    init(isServer: Bool, host: String?, revocationFlags: CFOptionFlags? = nil) {
        self.isServer = isServer
        self.host = host
        self.revocationFlags = revocationFlags
    }
}

public typealias CFOptionFlags = UInt

public let kSecRevocationOCSPMethod: CFOptionFlags = 1
public let kSecRevocationCRLMethod: CFOptionFlags = 2
public let kSecRevocationUseAnyAvailableMethod: CFOptionFlags = 3
public let kSecRevocationRequirePositiveResponse: CFOptionFlags = 8

/// Apple makes none of flags that it does not know.
public func SecPolicyCreateRevocation(_ revocationFlags: CFOptionFlags) -> SecPolicy? {
    guard revocationFlags != 0, revocationFlags < 32 else { return nil }
    return SecPolicy(isServer: false, host: nil, revocationFlags: revocationFlags)
}

public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy {
    SecPolicy(isServer: server, host: hostname)
}

/// Not Sendable, as Apple's is not. What changes its policies, its date or its anchors discards the result, and reading
/// the chain without one evaluates.
public final class SecTrust: NSObject {
    let certificates: [SecCertificate]
    var policies: [SecPolicy]
    var anchors: [SecCertificate]?
    var anchorsOnly = false
    var date: Date?
    /// Apple has no other place for it: the only trust that fetches nothing is one of whose policies forbids it.
    var allowsNetworkFetch: Bool { !policies.contains(where: \.forbidsNetwork) }
    var evaluated: [SecCertificate]?
    /// DER of what the device trusts.
    let systemAnchors: [[UInt8]]
    /// Every evaluation, in order, for the tests to inspect.
    public private(set) var evaluations: [StandInSystem.Question] = []

    init(_ certificates: [SecCertificate], policies: [SecPolicy], systemAnchors: [[UInt8]] = []) {
        self.certificates = certificates
        self.policies = policies
        self.systemAnchors = systemAnchors
    }

    /// The trust of a connection: the chain as presented, for the host that was dialed.
    public static func presented(_ chain: [[UInt8]], host: String?, systemAnchors: [[UInt8]]) -> SecTrust {
        SecTrust(
            chain.map { SecCertificate(Data($0)) }, policies: [SecPolicyCreateSSL(true, host)],
            systemAnchors: systemAnchors)
    }

    /// The host of each policy that is set, for the tests to inspect.
    public var policyHosts: [String?] { policies.map(\.host) }

    /// A trust that has no date gets the time at which it is first asked, and keeps it: nothing clears a date.
    func verifyDate() -> Date {
        let time = date ?? Date(timeIntervalSinceNow: 0)
        date = time
        return time
    }

    func evaluate() -> CFError? {
        let own = anchors.map { $0.map { [UInt8]($0.data) } } ?? []
        let question = StandInSystem.Question(
            certificates: certificates.map { [UInt8]($0.data) },
            anchors: own + (anchors != nil && anchorsOnly ? [] : systemAnchors),
            isServer: policies.first?.isServer ?? true, host: policies.first?.host, time: verifyDate(),
            revocationFlags: policies.compactMap(\.revocationFlags).first, allowsNetworkFetch: allowsNetworkFetch)
        evaluations.append(question)
        switch StandInSystem.answer(question) {
        case .valid(let path):
            evaluated = path.map { SecCertificate(Data($0)) }
            return nil
        case .invalid(let reason):
            evaluated = certificates
            return CFError(code: -67843, text: reason)
        }
    }
}

public func SecTrustCreateWithCertificates(
    _ certificates: CFTypeRef, _ policies: CFTypeRef?, _ trust: UnsafeMutablePointer<SecTrust?>
) -> OSStatus {
    guard let certificates = certificates as? [SecCertificate], !certificates.isEmpty else { return errSecParam }
    let list = (policies as? [SecPolicy]) ?? (policies as? SecPolicy).map { [$0] } ?? []
    unsafe trust.pointee = SecTrust(certificates, policies: list)
    return errSecSuccess
}

public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: CFTypeRef) -> OSStatus {
    guard let list = (policies as? [SecPolicy]) ?? (policies as? SecPolicy).map({ [$0] }) else { return errSecParam }
    trust.policies = list
    trust.evaluated = nil
    return errSecSuccess
}

public func SecTrustCopyPolicies(_ trust: SecTrust, _ policies: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    unsafe policies.pointee = trust.policies
    return errSecSuccess
}

public func SecTrustSetVerifyDate(_ trust: SecTrust, _ verifyDate: CFDate) -> OSStatus {
    trust.date = verifyDate
    trust.evaluated = nil
    return errSecSuccess
}

public func SecTrustGetVerifyTime(_ trust: SecTrust) -> CFAbsoluteTime {
    trust.verifyDate().timeIntervalSinceReferenceDate
}

/// Setting anchors also says that they are the only ones; nil takes back both.
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus {
    guard let list = (anchorCertificates ?? []) as? [SecCertificate] else { return errSecParam }
    trust.anchors = anchorCertificates == nil ? nil : list
    trust.anchorsOnly = anchorCertificates != nil
    trust.evaluated = nil
    return errSecSuccess
}

public func SecTrustCopyCustomAnchorCertificates(
    _ trust: SecTrust, _ anchors: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    unsafe anchors.pointee = trust.anchors
    return errSecSuccess
}

public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus {
    trust.anchorsOnly = anchorCertificatesOnly
    trust.evaluated = nil
    return errSecSuccess
}

public func SecTrustSetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: Bool) -> OSStatus {
    for policy in trust.policies { policy.forbidsNetwork = !allowFetch }
    return errSecSuccess
}

public func SecTrustGetNetworkFetchAllowed(
    _ trust: SecTrust, _ allowFetch: UnsafeMutablePointer<DarwinBoolean>
) -> OSStatus {
    unsafe allowFetch.pointee = DarwinBoolean(trust.allowsNetworkFetch)
    return errSecSuccess
}

public typealias SecTrustWithErrorCallback = (SecTrust, Bool, CFError?) -> Void

/// Answers on the queue, and only there may it be called.
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
public func SecTrustEvaluateAsyncWithError(
    _ trust: SecTrust, _ queue: DispatchQueue, _ result: @escaping SecTrustWithErrorCallback
) -> OSStatus {
    dispatchPrecondition(condition: .onQueue(queue))
    nonisolated(unsafe) let unchecked = (trust, result)
    queue.async {
        let failure = unsafe unchecked.0.evaluate()
        unsafe unchecked.1(unchecked.0, failure == nil, failure)
    }
    return errSecSuccess
}

@available(macOS 10.14, iOS 12.0, tvOS 12.0, watchOS 5.0, *)
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool {
    let failure = trust.evaluate()
    unsafe error?.pointee = failure
    return failure == nil
}

@available(macOS 12.0, iOS 15.0, tvOS 15.0, watchOS 8.0, *)
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? {
    if trust.evaluated == nil { _ = trust.evaluate() }
    return trust.evaluated
}
