extension Duration {
    /// Seconds, for dates and timers.
    package var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }

    /// A duration of this many seconds; nil if a duration cannot represent the number.
    package init?(exactSeconds seconds: Double) {
        guard abs(seconds) < 1e15 else { return nil }
        self = .seconds(seconds)
    }
}
