/// How clients with the documents of a canary have fared since it began, as the audit has it.
public struct CanaryProbes: Sendable, Hashable {
    /// For how many seconds all of them have got in without a refusal. Between two looks that are further apart than
    /// ``maximumPause`` nobody knows, so that time does not count.
    public private(set) var followed: Int64 = 0
    /// When all of them got in last, in seconds since 1970; nil before that, and after a refusal.
    public private(set) var latest: Int64?
    /// Who was refused where, and why; empty once all get in again.
    public private(set) var refusals: [String] = []
    /// Since when the canary is held, in seconds since 1970; nil if nobody is refused.
    public private(set) var heldSince: Int64?

    /// Two looks that are further apart say nothing about the time between them, in seconds.
    static let maximumPause: Int64 = 3_600
    /// What separates refusals in an entry.
    static let separator = "\n"

    /// Takes the next look. A refusal begins the canary's time anew.
    mutating func take(_ refusals: [String], at time: Int64) {
        self.refusals = refusals
        guard refusals.isEmpty else {
            (followed, latest, heldSince) = (0, nil, heldSince ?? time)
            return
        }
        heldSince = nil
        followed = followed(at: time)
        latest = time
    }

    /// For how many seconds all of them have got in, if they do so at a time.
    func followed(at time: Int64) -> Int64 {
        guard let latest, (0...Self.maximumPause).contains(time - latest) else { return followed }
        return followed + (time - latest)
    }

    /// The earliest time at which they have got in for a span, if they do from now on.
    func end(after span: Int64, at now: Int64) -> Int64 { now + max(0, span - followed(at: now)) }
}
