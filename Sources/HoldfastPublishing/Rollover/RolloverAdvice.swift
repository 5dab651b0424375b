public import Foundation

/// The next step of a change of keys or certificates that locks no client out.
///
/// It depends only on the situation, and never on which certificate ends later. It contains no times in the past. Ask
/// again when the step is done, when it was not done as advised, and at ``holdsUntil``.
public struct RolloverAdvice: StoredValue {
    /// The name of the advice in stored JSON.
    public static var storedName: String { "rolloverAdvice" }

    /// The next step, for every published document. Identities, servers and clients are indices of the situation's.
    public enum Step: Sendable, Hashable, Codable {
        /// Publish the pins of these identities in addition to the published ones.
        case publish([Int])
        /// Make a backup key and publish its pin.
        case addBackup
        /// Publish the pins of these identities with a later end, by a date if there is still time.
        case renew([Int], by: Date?)
        /// Get another certificate for these keys, by a date if there is still time.
        case renewCertificates([Int], by: Date?)
        /// Get the next certificate, announce it and publish it, by a date if there is still time.
        case prepareNext(by: Date?)
        /// Change nothing until then; nil if no such time is known.
        case wait(until: Date?)
        /// Make these servers present the identity, before a date if what they present now ends then.
        case deploy(Int, servers: [Int], before: Date?)
        /// Publish without the pins of these identities: no server presents them, and none will.
        case remove([Int])
        /// There is nothing to do until then; nil if nothing ends.
        case nothing(until: Date?)
    }

    /// Clients that cannot connect for a while, no matter what is done.
    public struct Loss: Sendable, Hashable, Codable {
        /// The clients, as an index of ``RolloverSituation/clients``.
        public let clients: Int
        /// The servers that they refuse, as indices.
        public let servers: [Int]
        /// The first instant of the lockout.
        public let start: Date
        /// The first instant at which they can connect again; nil if that is unknown.
        public let end: Date?
    }

    /// The next step. If some clients are locked out in any case, the steps minimize the loss: each group of clients is
    /// weighted by the time for which its document could be fetched, up to the staleness.
    public let step: Step
    /// The clients that are locked out in any case; empty if none are.
    public let lost: [Loss]
    /// The clients whose documents refuse the target of the change for as long as is known. Waiting locks out no
    /// client, but the change cannot be finished without locking out these clients.
    public let blocking: [Int]
    /// The first instant by which another step is needed, even if this step was done; nil if there is none.
    public let holdsUntil: Date?

    /// Whether no client is locked out, and the change can be finished.
    public var savesEverybody: Bool { lost.isEmpty && blocking.isEmpty }

    /// Computes advice for a situation.
    public init(on situation: RolloverSituation) {
        self = RolloverPlan(situation).advice
    }

    init(_ step: Step, lost: [Loss], blocking: [Int], holdsUntil: Date?) {
        self.step = step
        self.lost = lost
        self.blocking = blocking
        self.holdsUntil = holdsUntil
    }
}
