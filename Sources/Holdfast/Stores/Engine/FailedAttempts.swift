import Foundation

/// The stored record of failed updates, next to the document, so that an application that starts every few seconds does
/// not send a request each time.
///
/// It is unsigned, so its effect is limited: a record whose next attempt is further from now than the longest back-off,
/// in either direction, is ignored. Neither a damaged record nor a changed clock prevents a store from updating.
struct FailedAttempts: Sendable, Equatable {
    /// Failures in a row.
    let count: Int
    /// The time at which the next attempt may be made.
    let retryTime: Date

    /// The number of failures after which the wait no longer grows.
    private static let maximumCount = 64
    /// The maximum size. A record has about 300 bytes.
    private static let maximumBytes = 512

    /// The key under which it is stored.
    static func key(beside storageKey: String) -> String { "\(storageKey).attempt" }

    init(count: Int, retryTime: Date) {
        self.count = min(count, Self.maximumCount)
        self.retryTime = retryTime
    }

    /// Reads a record; the result is nil if it is damaged, belongs to other documents, or is meaningless at this time.
    init?(_ data: Data, of format: some DocumentFormat, at now: Date) {
        guard data.count <= Self.maximumBytes, let record = StoredRecord(data), record.format == .attempts,
            record.origin == format.origin, let count = Int(String(decoding: record.body, as: UTF8.self)),
            (1...Self.maximumCount).contains(count)
        else { return nil }
        let retryTime = Date(wholeSeconds: record.nextUpdate)
        guard abs(retryTime.timeIntervalSince(now)) <= format.longestBackOff else { return nil }
        self.init(count: count, retryTime: retryTime)
    }

    func data(origin: [UInt8]) -> Data {
        var record = StoredRecord(format: .attempts, body: Data("\(count)".utf8))
        record.origin = origin
        record.nextUpdate = retryTime.wholeSeconds
        return record.data
    }
}
