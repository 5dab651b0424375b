/// The start times of rounds: whole multiples of the interval after the first, however long a round takes. If a round
/// takes longer than the interval, the missed rounds are skipped.
struct RepeatingSchedule: Sendable {
    let interval: TimeSpan

    /// - Parameter elapsed: the time since the first round began.
    /// - Returns: the next start, counted from the beginning of the first round. It is always later than `elapsed`.
    func next(after elapsed: Duration) -> Duration {
        let interval = max(1, interval.seconds)
        return .seconds((elapsed.components.seconds / interval + 1) * interval)
    }
}
