public import Foundation

/// The next step of a change of keys or certificates that locks no client out.
///
/// It depends only on the situation, and never on which certificate ends later. Nothing in it lies in the past. Ask again
/// when the step is done, when it was not done as it says, and at ``holdsUntil``.
public struct RolloverAdvice: StoredValue {
    /// What it is called in stored JSON.
    public static var storedName: String { "rolloverAdvice" }

    /// What to do next, in every published document. Identities, servers and clients are indices of the situation's.
    public enum Step: Sendable, Hashable, Codable {
        /// Publish the pins of these beside those that are published.
        case publish([Int])
        /// Make a backup key and publish its pin.
        case addBackup
        /// Publish the pins of these with a later end, by a date if there is still time.
        case renew([Int], by: Date?)
        /// Get another certificate for these keys, by a date if there is still time.
        case renewCertificates([Int], by: Date?)
        /// Get the next certificate, name it and publish it, by a date if there is still time.
        case prepareNext(by: Date?)
        /// Leave everything as it is until then; nil if nothing that is known says until when.
        case wait(until: Date?)
        /// Let these servers show the identity, before a date if what they show now ends then.
        case deploy(Int, servers: [Int], before: Date?)
        /// Publish without the pins of these: no server shows them, and none will.
        case remove([Int])
        /// There is nothing to do until then; nil if nothing ends.
        case nothing(until: Date?)
    }

    /// Clients that get no connection for a while, whatever is done.
    public struct Loss: Sendable, Hashable, Codable {
        /// Which clients, as an index of ``RolloverSituation/clients``.
        public let clients: Int
        /// The servers that they refuse, as indices.
        public let servers: [Int]
        /// The first instant.
        public let start: Date
        /// The first instant at which they get in again; nil if that is unknown.
        public let end: Date?
    }

    /// What to do next. Where clients are lost, the steps are those with the least loss: each counts for as long as its
    /// document could be fetched, up to the staleness.
    public let step: Step
    /// Who cannot be saved by anybody: empty if every client can be.
    public let lost: [Loss]
    /// Whose documents refuse what all servers are to show, for as long as anybody can tell. Waiting harms nobody, but
    /// the change cannot be finished without losing these clients.
    public let blocking: [Int]
    /// The first instant at which something else must have been done, even if this step was; nil if there is none.
    public let holdsUntil: Date?

    /// Whether every client can be saved, and the change be finished.
    public var savesEverybody: Bool { lost.isEmpty && blocking.isEmpty }

    /// Advises on a situation.
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
