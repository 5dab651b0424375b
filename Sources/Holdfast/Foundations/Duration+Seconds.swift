extension Duration {
    /// Seconds, for what is measured in them: dates and timers.
    package var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }

    /// A span of so many seconds; nil for a number that none can be.
    package init?(exactSeconds seconds: Double) {
        guard abs(seconds) < 1e15 else { return nil }
        self = .seconds(seconds)
    }
}
