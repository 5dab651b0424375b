#if canImport(Security)
import Dispatch
public import Holdfast
import Security

#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

extension CertStore {
    /// Evaluates the server of a challenge with the store's pins: its chain must validate for the dialed host, and a
    /// pin of that host must be in the path.
    ///
    /// It uses the system's evaluation and may block; in a delegate, use `validation(of:)`.
    /// - Returns: `ValidationResult.untrusted` also for a challenge that is not about a server's trust.
    public func validate(challenge: URLAuthenticationChallenge) -> ValidationResult {
        let space = challenge.protectionSpace
        guard space.authenticationMethod == NSURLAuthenticationMethodServerTrust, let trust = space.serverTrust else {
            return .untrusted
        }
        return result(for: SystemTrust(trust), host: space.host)
    }

    /// Evaluates the server of a challenge with the store's pins, on a thread other than the caller's; see
    /// `validate(challenge:)`. As long as there are no pins at all, it first waits for them; see `prepare()`.
    public func validation(of challenge: URLAuthenticationChallenge) async -> ValidationResult {
        let space = challenge.protectionSpace
        guard space.authenticationMethod == NSURLAuthenticationMethodServerTrust, let trust = space.serverTrust else {
            return .untrusted
        }
        let (systemTrust, host) = (SystemTrust(trust), space.host)
        if needsPreparation { try? await prepare() }
        return await EvaluationQueue.run { self.result(for: systemTrust, host: host) }
    }

    /// Like `validation(of:)`, but for a caller with a completion handler. It is called once, on one of Holdfast's
    /// queues.
    package func validate(
        challenge: URLAuthenticationChallenge, completionHandler: @escaping (ValidationResult) -> Void
    ) {
        let space = challenge.protectionSpace
        guard space.authenticationMethod == NSURLAuthenticationMethodServerTrust, let trust = space.serverTrust else {
            return completionHandler(.untrusted)
        }
        let (systemTrust, host) = (SystemTrust(trust), space.host)
        let complete = SharedReference(completionHandler)
        Task {
            if self.needsPreparation { try? await self.prepare() }
            EvaluationQueue.queue.async { complete.get(self.result(for: systemTrust, host: host)) }
        }
    }

    private func result(for trust: SystemTrust, host text: String) -> ValidationResult {
        guard let host = try? DialedHost(text) else { return .untrusted }
        let decision = policy(for: HostPattern(host)).decision(
            about: ServerTrust(trust, host: host), at: clock.now)
        guard let failure = decision.failure else { return .trusted }
        return failure.code == .noUsablePins ? .empty : .untrusted
    }
}
#endif
