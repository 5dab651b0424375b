import Logging

/// Says once what does not work, again every ten minutes, and once when it works again: a database that stays locked would
/// fill the log otherwise.
struct RepeatedErrorLog {
    private struct Trouble {
        let kind: String
        let time: ContinuousClock.Instant
    }

    private static let pause: Duration = .seconds(600)

    private let logger: Logger
    private var known: [String: Trouble] = [:]

    init(_ logger: Logger) { self.logger = logger }

    /// Something does not work.
    /// - Parameter words: what it is; what was found may differ each time.
    mutating func note(_ subject: String, _ words: String, at now: ContinuousClock.Instant) {
        let kind = words.firstRange(of: " expected ").map { String(words[..<$0.lowerBound]) } ?? words
        if let last = known[subject], last.kind.utf8.elementsEqual(kind.utf8), now - last.time < Self.pause { return }
        known[subject] = Trouble(kind: kind, time: now)
        logger.error("\(subject): \(words)")
    }

    /// It works.
    mutating func end(_ subject: String) {
        if known.removeValue(forKey: subject) != nil { logger.notice("\(subject): works again") }
    }
}
