#if canImport(Security)
import Dispatch
import Foundation
package import Security

/// One `SecTrust`, with its evaluation.
///
/// Security.framework serializes each of its calls on a trust; the lock here keeps the calls of one evaluation
/// together. The lock belongs to the system's trust, however many of these values were made from it.
package final class SystemTrust: Sendable {
    /// The result of an evaluation.
    struct Evaluation: Sendable {
        /// DER of the evaluated chain, leaf first, anchor last; empty if the system built none.
        let chain: [[UInt8]]
        /// The reason why the system does not trust it; nil if it does.
        let failure: Failure?
    }

    struct Failure: Sendable {
        let text: String
        let underlying: (any Error)?
    }

    private let reference: SharedReference<SecTrust>
    private let evaluating: EvaluationLock
    /// The chain of the first evaluation.
    private let known = Lock<[[UInt8]]?>(nil)

    /// Keeps the trust; the system evaluates nothing yet.
    package init(_ trust: SecTrust) {
        reference = SharedReference(trust)
        evaluating = EvaluationLock(of: trust)
    }

    /// A new trust for a chain, as a handshake would provide it.
    convenience init?(_ chain: PresentedChain, for purpose: ValidationPurpose) {
        let certificates = Self.certificates(chain.certificates)
        var trust: SecTrust?
        guard let certificates,
            unsafe SecTrustCreateWithCertificates(certificates as CFArray, Self.policy(for: purpose), &trust)
                == errSecSuccess, let trust
        else { return nil }
        self.init(trust)
    }

    /// The system's own object, for the application's closures and for credentials.
    var secTrust: SecTrust { reference.get }

    /// The system's chain after the first evaluation, which this call performs if necessary; in that case it may block.
    ///
    /// Reading the chain evaluates the trust with its current settings, so they are set first.
    func chain(for purpose: ValidationPurpose, anchors: TrustAnchors?) -> [[UInt8]] {
        evaluating.withLock {
            if let chain = known.withLock({ $0 }) { return chain }
            return remembered(evaluate(for: purpose, date: nil, anchors)).chain
        }
    }

    /// Evaluates the trust for a purpose at a time; afterward its policies, anchors and date are restored.
    ///
    /// It may block: the system queries its daemon, and fetches missing certificates from the network.
    /// - Parameters:
    ///   - anchors: the anchors; nil for those that are set on the trust, by default the system's.
    ///   - revocation: whether the system checks revocation.
    func evaluate(
        for purpose: ValidationPurpose, at time: Date, anchors: TrustAnchors?, revocation: SystemRevocation
    ) -> Evaluation {
        evaluating.withLock { remembered(evaluate(for: purpose, date: time, anchors, revocation)) }
    }

    private func remembered(_ evaluation: Evaluation) -> Evaluation {
        known.withLock { known in
            if known == nil, !evaluation.chain.isEmpty { known = evaluation.chain }
        }
        return evaluation
    }

    /// - Parameter date: nil for the trust's own, by default the system's time.
    private func evaluate(
        for purpose: ValidationPurpose, date: Date?, _ anchors: TrustAnchors?, _ revocation: SystemRevocation = .system
    ) -> Evaluation {
        let trust = reference.get
        guard let settings = SystemTrustSettings(of: trust) else { return Self.unsettable }
        defer { settings.restore(to: trust, date: date != nil, anchors: anchors != nil) }
        guard let policies = Self.policies(for: purpose, revocation),
            SecTrustSetPolicies(trust, policies as CFTypeRef) == errSecSuccess,
            // The system keeps this in the policies that are set, so set it after them.
            revocation != .withoutNetwork && settings.allowsNetworkFetch
                || SecTrustSetNetworkFetchAllowed(trust, false) == errSecSuccess,
            date.map({ SecTrustSetVerifyDate(trust, $0 as CFDate) == errSecSuccess }) ?? true,
            Self.set(anchors, on: trust)
        else { return Self.unsettable }
        let failure = Thread.isMainThread ? Self.failureAwayFromMainThread(of: trust) : Self.failure(of: trust)
        // Read before anything else is set, because that would discard the result.
        return Evaluation(chain: Self.chain(of: trust), failure: failure)
    }

    /// The reason why the system does not trust the trust with its current settings; nil if it does. It may block.
    private static func failure(of trust: SecTrust) -> Failure? {
        var error: CFError?
        return unsafe SecTrustEvaluateWithError(trust, &error) ? nil : failure(error)
    }

    /// The same for the published calls, which have to return on the calling thread: the system logs a fault if it
    /// evaluates on the main thread, so that thread waits while a queue evaluates.
    static func failureAwayFromMainThread(of trust: SecTrust) -> Failure? {
        let trust = SharedReference(trust)
        let answer = Lock<Failure?>(unsettable.failure)
        let isDone = DispatchSemaphore(value: 0)
        let queue = EvaluationQueue.queue
        queue.async {
            let status = SecTrustEvaluateAsyncWithError(trust.get, queue) { _, isTrusted, error in
                let failure = isTrusted ? nil : failure(error)
                answer.withLock { $0 = failure }
                isDone.signal()
            }
            // In this case the closure is not called.
            if status != errSecSuccess { isDone.signal() }
        }
        isDone.wait()
        return answer.withLock { $0 }
    }

    private static let unsettable = Evaluation(
        chain: [], failure: Failure(text: "a trust that takes neither policy, date nor anchors", underlying: nil))

    /// The policies of a purpose; nil if the system makes none.
    private static func policies(for purpose: ValidationPurpose, _ revocation: SystemRevocation) -> CFArray? {
        switch revocation.policy {
        case nil: return [policy(for: purpose)] as CFArray
        case .some(nil): return nil
        case .some(let status?): return [policy(for: purpose), status] as CFArray
        }
    }

    private static func policy(for purpose: ValidationPurpose) -> SecPolicy {
        switch purpose {
        case .server(let identity): SecPolicyCreateSSL(true, identity.map { $0.name as CFString })
        // The system has no policy for custom purposes; requests for one are refused earlier.
        case .client, .extendedKeyUsage: SecPolicyCreateSSL(false, nil)
        }
    }

    private static func set(_ anchors: TrustAnchors?, on trust: SecTrust) -> Bool {
        guard let anchors else { return true }
        guard let certificates = certificates(anchors.certificates.map { Array($0.der) }) else { return false }
        return SecTrustSetAnchorCertificates(trust, certificates as CFArray) == errSecSuccess
            && SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess
    }

    private static func failure(_ error: CFError?) -> Failure {
        guard let error else { return Failure(text: "a chain that it does not trust", underlying: nil) }
        let text = (error as any Error).localizedDescription
        return Failure(text: "\(text) (status \(CFErrorGetCode(error)))", underlying: error as any Error)
    }

    private static func chain(of trust: SecTrust) -> [[UInt8]] {
        let certificates = SecTrustCopyCertificateChain(trust) as? [SecCertificate]
        return (certificates ?? []).map { [UInt8](SecCertificateCopyData($0) as Data) }
    }

    /// The system's certificates; nil if the system cannot read one of them.
    private static func certificates(_ chain: [[UInt8]]) -> [SecCertificate]? {
        let read = chain.compactMap { SecCertificateCreateWithData(nil, Data($0) as CFData) }
        return read.count == chain.count ? read : nil
    }
}
#endif
