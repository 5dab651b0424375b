import Foundation

/// What is stored about failed updates, beside the document, so that an application that starts every few seconds does
/// not ask its server each time.
///
/// It is unsigned, so its effect is limited: a record whose next attempt is further from now than the longest back-off,
/// in either direction, is ignored. Neither a damaged record nor a changed clock prevents a store from updating.
struct FailedAttempts: Sendable, Equatable {
    /// Failures in a row.
    let count: Int
    /// When the next attempt may be made.
    let retryTime: Date

    /// More failures do not make the wait longer.
    private static let maximumCount = 64
    /// A record has about 300 octets.
    private static let maximumBytes = 512

    /// The key under which it is stored.
    static func key(beside storageKey: String) -> String { "\(storageKey).attempt" }

    init(count: Int, retryTime: Date) {
        self.count = min(count, Self.maximumCount)
        self.retryTime = retryTime
    }

    /// Reads a record; nil if it is damaged, belongs to other documents, or is meaningless at this time.
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
