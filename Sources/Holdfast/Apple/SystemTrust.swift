#if canImport(Security)
import Foundation
import Security

/// One `SecTrust`, and how to evaluate it.
///
/// Security.framework serialises each of its calls on a trust; the lock here keeps the calls of one evaluation together.
/// It belongs to this trust alone, so that nobody waits for another connection's evaluation.
final class SystemTrust: Sendable {
    /// What came of an evaluation.
    struct Evaluation: Sendable {
        /// DER of the chain that was evaluated, leaf first, anchor last; empty when there was none.
        let chain: [[UInt8]]
        /// Why the system does not trust it; nil when it does.
        let failure: Failure?
    }

    struct Failure: Sendable {
        let text: String
        let underlying: (any Error)?
    }

    private let reference: SharedReference<SecTrust>
    private let evaluating = Lock(())

    init(_ trust: SecTrust) {
        reference = SharedReference(trust)
    }

    /// A trust of its own for a chain, as a handshake would hand it out.
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

    /// The chain as the system has it: evaluated if it was, otherwise evaluated now, which may block.
    func chain() -> [[UInt8]] { evaluating.withLock { _ in Self.chain(of: reference.get) } }

    /// Evaluates the trust for a purpose at a time; its policies are afterwards what they were before.
    ///
    /// It may block: the system asks its daemon, and the network for certificates that are missing.
    /// - Parameter anchors: what is trusted to begin with; nil for what the trust says, by default the system's.
    func evaluate(for purpose: ValidationPurpose, at time: Date, anchors: TrustAnchors?) -> Evaluation {
        evaluating.withLock { _ in
            let trust = reference.get
            var policies: CFArray?
            _ = unsafe SecTrustCopyPolicies(trust, &policies)
            defer { if let policies { _ = SecTrustSetPolicies(trust, policies) } }
            guard SecTrustSetPolicies(trust, Self.policy(for: purpose)) == errSecSuccess,
                SecTrustSetVerifyDate(trust, time as CFDate) == errSecSuccess, Self.set(anchors, on: trust)
            else {
                let failure = Failure(text: "a trust that takes neither policy, date nor anchors", underlying: nil)
                return Evaluation(chain: [], failure: failure)
            }
            var error: CFError?
            let isTrusted = unsafe SecTrustEvaluateWithError(trust, &error)
            let failure = isTrusted ? nil : Self.failure(error)
            return Evaluation(chain: Self.chain(of: trust), failure: failure)
        }
    }

    private static func policy(for purpose: ValidationPurpose) -> SecPolicy {
        switch purpose {
        case .server(let identity): SecPolicyCreateSSL(true, identity.map { $0.name as CFString })
        case .client: SecPolicyCreateSSL(false, nil)
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

    /// nil when the system cannot read one of them.
    private static func certificates(_ chain: [[UInt8]]) -> [SecCertificate]? {
        let read = chain.compactMap { SecCertificateCreateWithData(nil, Data($0) as CFData) }
        return read.count == chain.count ? read : nil
    }
}
#endif
