#if canImport(ObjectiveC) && canImport(Security)
public import Foundation
public import Holdfast
import Security

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Answers the challenges of an NSURLConnection with the certificates that ``ISPCertificatePinning`` stores.
///
/// NSURLConnection finds the method by its selector. The connection may be any object, since the class does not exist
/// on every system. You can inherit from this class in Swift, or use it as it is.
@objc(ISPPinnedNSURLConnectionDelegate) nonisolated open class ISPPinnedNSURLConnectionDelegate: NSObject {
    private let session: ISPPinnedNSURLSessionDelegate

    /// Makes a delegate.
    /// - Parameters:
    ///   - file: the file with the certificates.
    ///   - clock: the time of the validation.
    public init(file: URL, clock: any WallClock = SystemWallClock()) {
        session = ISPPinnedNSURLSessionDelegate(file: file, clock: clock)
    }

    /// Makes a delegate for the certificates in the default file.
    @objc public override convenience init() { self.init(file: ISPCertificatePinning.defaultFile) }

    /// Answers a challenge; it returns before the answer is known.
    @objc(connection:willSendRequestForAuthenticationChallenge:) open func connection(
        _ connection: AnyObject, willSendRequestFor challenge: URLAuthenticationChallenge
    ) {
        let challenged = SharedReference(challenge)
        session.answer(challenge) { disposition, credential in
            let challenge = challenged.get
            guard let sender = challenge.sender else { return }
            switch disposition {
            case .useCredential:
                if let credential { sender.use(credential, for: challenge) }
            case .performDefaultHandling:
                // Optional for a sender. Without it, the system's proposal is the closest alternative.
                if sender.performDefaultHandling?(for: challenge) == nil {
                    if let proposed = challenge.proposedCredential {
                        sender.use(proposed, for: challenge)
                    } else {
                        sender.continueWithoutCredential(for: challenge)
                    }
                }
            default:
                sender.cancel(challenge)
            }
        }
    }
}
#endif
