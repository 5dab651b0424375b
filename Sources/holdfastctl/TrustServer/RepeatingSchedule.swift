/// When the next of many rounds begins: at whole multiples of the interval after the first, however long a round takes.
/// A round that outlasts its interval skips those that it missed.
struct RepeatingSchedule: Sendable {
    let interval: TimeSpan

    /// - Parameter elapsed: since the first round began.
    /// - Returns: when to begin, counted from the beginning of the first round; always later than `elapsed`.
    func next(after elapsed: Duration) -> Duration {
        let interval = max(1, interval.seconds)
        return .seconds((elapsed.components.seconds / interval + 1) * interval)
    }
}
