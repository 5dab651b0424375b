import Foundation
public import Holdfast

/// The pins of the dialed host, from the most specific entry of the newest pin file.
extension PinRepository: PinSource {
    /// The pin file's current requirements for a host; `noUsablePins` without a pin file, and for a host without an
    /// entry.
    public func answer(to question: PinQuestion) -> PinAnswer {
        let snapshot = documents.snapshot
        let time = snapshot.trustedTime.time(asked: question.time, clock: clock.now)
        guard let pins = snapshot.content?.pins else {
            let last = lastUpdate?.error.map { "; the last update failed: \($0.code.rawValue), \($0.found)" }
            let failure = TrustFailure(
                .noUsablePins, expected: "a pin file of the repository", found: "none\(last ?? "")",
                remedy: "Let the app reach its repository once, or ship a bundle with it.")
            return .none(.empty, failure, at: time)
        }
        return pins.answer(to: question, at: time)
    }

    /// True: a document may put a host in report mode, in which no connection is refused.
    public var mayAdmitWithoutPins: Bool { true }

    /// Makes a policy that uses the repository's pins, for a `TrustManager` and every adapter.
    ///
    /// It uses the pin file that the repository has at the moment of the decision, and in it the most specific entry
    /// for the host. It rejects a host without an entry with `noUsablePins`, and every host while there is no pin file.
    /// - Parameter host: a host, a URL (which stands for its host), or a pattern. Pins are looked up by the host that
    ///   is dialed.
    /// - Throws: `PolicyConfigurationError` `invalidHostName`.
    public func policy(for host: String) throws(PolicyConfigurationError) -> PinnedPolicy {
        policy(for: try HostPattern(policyName: host))
    }

    /// Makes a policy for a host or a pattern that was parsed before.
    public func policy(for host: HostPattern) -> PinnedPolicy {
        PinnedPolicy(scope: .hosts(host), source: self, certificates: [], log: log)
    }
}
