package import Dispatch

public import struct Foundation.Date

extension TrustManager {
    /// Evaluates a server with the policy for the host that was dialed, on a thread other than the caller's.
    ///
    /// If the system validates, a decision may block, on its daemon and on the network. If a policy is waiting for
    /// something, such as its first document, this call prepares the policy first.
    /// - Parameters:
    ///   - trust: what the handshake presented.
    ///   - time: the time for which to decide; nil for the manager's clock.
    /// - Returns: the decision, which every observer gets too.
    public func decision(for trust: ServerTrust, at time: Date? = nil) async -> TrustDecision {
        guard let host = trust.host else { return await EvaluationQueue.run { self.evaluate(trust, at: time) } }
        let lookup = lookUp(host)
        await lookup.prepare()
        return await EvaluationQueue.run {
            self.handedOut(lookup.judgment(of: trust, at: time ?? self.clock.now), about: trust)
        }
    }
}

/// The queue for decisions that may block, so that no thread of the application or of Swift's pool waits for them.
package enum EvaluationQueue {
    /// For callers with a completion handler.
    package static let queue = DispatchQueue(label: "holdfast.evaluation", qos: .userInitiated, attributes: .concurrent)

    /// The result of work that may block.
    package static func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await queue.run { body() }
    }
}
