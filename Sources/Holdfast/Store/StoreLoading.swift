import struct Foundation.Data
import struct Foundation.Date

/// Reads what a store kept, and verifies it again: a changed file is an empty store, not a trusted one.
struct StoreLoading<Format: DocumentFormat> {
    struct Result {
        var content: Format.Content?
        var newestIssue: Date?
        var nextUpdate = Date(timeIntervalSince1970: 0)
        var entityTag = ""
        var error: CertStoreError?
        /// Whether there may be something that could not be read just now, as before a device is first unlocked.
        var isUnread = false
    }

    let format: Format
    let now: Date

    func load(from dataStore: any SecureDataStore) -> Result {
        guard format.canVerify else { return Result() }
        let data: Data?
        do {
            data =
                if let reporting = dataStore as? any ReportingDataStore {
                    try reporting.load(forKey: format.storageKey)
                } else {
                    dataStore.loadData(forKey: format.storageKey)
                }
        } catch {
            return Result(error: damaged("one that cannot be read: \(error)", error), isUnread: true)
        }
        guard let data else { return Result() }
        guard let record = StoredRecord(data) else { return Result(error: damaged("one that is damaged", nil)) }
        guard format.isOwn(record.format) else {
            return Result(error: damaged("one of the other kind (\(record.format.rawValue))", nil))
        }
        do throws(DocumentError) {
            // What was not ahead of trusted time when it came is not ahead now, whatever was done to the clock since.
            let time = TrustedTime(buildDate: format.buildDate, newestIssue: Self.date(record.newestIssue))
            return result(of: record, try format.content(of: record, at: time.time(clock: now)))
        } catch {
            return Result(error: damaged("one that does not verify: \(error)", error))
        }
    }

    /// The dates of a record are unsigned: neither may do more than the signed ones and the schedule allow.
    private func result(of record: StoredRecord, _ content: Format.Content) -> Result {
        var result = Result(content: content, entityTag: record.entityTag)
        if let issued = format.issueTime(of: content) {
            let newest = Self.date(record.newestIssue)
            result.newestIssue = max(issued, min(newest, issued.addingTimeInterval(format.acceptedDelay)))
        }
        let latest = now.addingTimeInterval(format.longestInterval)
        result.nextUpdate = min(Self.date(record.nextUpdate), latest)
        return result
    }

    private static func date(_ seconds: Int64) -> Date { Date(timeIntervalSince1970: Double(seconds)) }

    private func damaged(_ found: String, _ underlying: (any Error)?) -> CertStoreError {
        CertStoreError(.damagedStorage, expected: "a stored document", found: found, underlying: underlying)
    }
}
