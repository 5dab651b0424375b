import HoldfastPublishing

/// Says why a change waits for its canary. Each part may only add reasons: the time that has to pass, what clients met, and
/// what is known besides. None of them takes a reason of another away, so nothing lets a change pass that the others hold.
struct CanaryJudge {
    /// How the canary is called.
    let name: String
    /// For how many seconds its clients have to get in, and when that ends.
    let timing: PublicationTiming
    /// Since when it has the change, in seconds since 1970.
    let began: Int64
    /// How its clients have fared.
    let probes: CanaryProbes
    /// The look that was just made; nil if none was.
    let look: CanaryLook?
    /// What may hold it up besides, a sentence each. What clients report belongs here: it can hold a canary, and cannot
    /// pass one.
    var reported: [String] = []
    /// What people who wait are told besides, such as how much clients have reported; nil for nothing.
    var knowledge: String?
    let now: Int64

    /// The earliest time at which it lets the change pass, in seconds since 1970.
    var end: Int64 { max(timing.canaryEnd(of: began), probes.end(after: span, at: now)) }

    private var span: Int64 { timing.canary.components.seconds }

    /// Why the change waits; empty if it does not.
    var refusals: [String] {
        let refusals = held + time + reported.map { "the canary \(name) is held: \($0)" }
        return refusals.isEmpty ? [] : refusals + [knowledge].compactMap(\.self)
    }

    private var held: [String] {
        let refusals = look.map { $0.refusals.isEmpty ? probes.refusals : $0.refusals } ?? probes.refusals
        return refusals.map { "the canary \(name) is held: \($0)" }
            + (look?.unknown ?? []).map { "the canary \(name) is held until that is known: \($0)" }
    }

    /// Time alone lets nothing pass: it counts as far as clients were seen to get in.
    private var time: [String] {
        guard now < end else { return [] }
        let text = ClockGuard.text(end)
        if end == timing.canaryEnd(of: began) { return ["the canary \(name) has it until \(text)"] }
        return [
            "the canary \(name) has it until \(text) at the earliest: its clients were seen to get in for "
                + "\(probes.followed(at: now)) s of \(span) s, without a refusal and with a look at least every "
                + "\(CanaryProbes.maximumPause) s"
        ]
    }
}
