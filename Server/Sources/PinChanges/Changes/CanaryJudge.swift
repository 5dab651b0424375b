package import HoldfastPublishing
import ServerModel
package import ServerStore

/// Explains why a change waits for its canary. Each part may only add reasons: the required time, the results of
/// clients, and other findings. No part removes a reason of another, so none can release a change that the others hold.
package struct CanaryJudge {
    /// The name of the canary.
    package let name: String
    /// The times of the canary: how long its clients must be able to connect, and when that ends.
    package let timing: PublicationTiming
    /// The time since which it has the change, in seconds since 1970.
    package let began: Int64
    /// The results of its clients so far.
    package let probes: CanaryProbes
    /// The latest probe; nil if none was made.
    package let look: CanaryLook?
    /// Further reasons to hold it, a sentence each, such as reports of clients: they can hold a canary, but cannot pass
    /// one.
    package var reported: [String] = []
    /// Further information for people who wait, such as the number of client reports; nil for none.
    var knowledge: String?
    package let now: Int64

    package init(
        name: String, timing: PublicationTiming, began: Int64, probes: CanaryProbes, look: CanaryLook?,
        reported: [String] = [], knowledge: String? = nil, now: Int64
    ) {
        self.name = name
        self.timing = timing
        self.began = began
        self.probes = probes
        self.look = look
        self.reported = reported
        self.knowledge = knowledge
        self.now = now
    }

    /// The earliest time at which the change can pass, in seconds since 1970.
    package var end: Int64 { max(timing.canaryEnd(of: began), probes.end(after: span, at: now)) }

    private var span: Int64 { timing.canary.components.seconds }

    /// The reasons why the change waits; empty if it does not.
    package var refusals: [String] {
        let refusals = held + time + reported.map { "the canary \(name) is held: \($0)" }
        return refusals.isEmpty ? [] : refusals + [knowledge].compactMap(\.self)
    }

    private var held: [String] {
        let refusals = look.map { $0.refusals.isEmpty ? probes.refusals : $0.refusals } ?? probes.refusals
        return refusals.map { "the canary \(name) is held: \($0)" }
            + (look?.unknown ?? []).map { "the canary \(name) is held until that is known: \($0)" }
    }

    /// Time alone passes no change: only the time during which clients were seen to connect is counted.
    private var time: [String] {
        guard now < end else { return [] }
        let text = ClockGuard.text(end)
        if end == timing.canaryEnd(of: began) { return ["the canary \(name) has it until \(text)"] }
        return [
            "the canary \(name) has it until \(text) at the earliest. Its clients have been able to connect for "
                + "\(probes.followed(at: now)) s of \(span) s, without a refusal and with a probe at least every "
                + "\(CanaryProbes.maximumPause) s"
        ]
    }
}
