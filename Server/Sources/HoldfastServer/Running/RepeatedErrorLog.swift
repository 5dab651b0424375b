import Logging

/// Logs a failure once, again every ten minutes, and its end once. Otherwise a database that stays locked would fill
/// the log.
struct RepeatedErrorLog {
    private struct Trouble {
        let kind: String
        let time: ContinuousClock.Instant
    }

    private static let pause: Duration = .seconds(600)

    private let logger: Logger
    private var known: [String: Trouble] = [:]

    init(_ logger: Logger) { self.logger = logger }

    /// Records a failure.
    /// - Parameter words: the failure; the part after "expected" may differ each time.
    mutating func note(_ subject: String, _ words: String, at now: ContinuousClock.Instant) {
        let kind = words.firstRange(of: " expected ").map { String(words[..<$0.lowerBound]) } ?? words
        if let last = known[subject], last.kind.utf8.elementsEqual(kind.utf8), now - last.time < Self.pause { return }
        known[subject] = Trouble(kind: kind, time: now)
        logger.error("\(subject): \(words)")
    }

    /// Records a success.
    mutating func end(_ subject: String) {
        if known.removeValue(forKey: subject) != nil { logger.notice("\(subject): works again") }
    }
}
