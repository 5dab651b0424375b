import struct Foundation.Data
import struct Foundation.Date

/// Reads a stored document and verifies it again. A modified file is not trusted: the store is then empty.
struct StoreLoading<Format: DocumentFormat> {
    struct Result {
        var content: Format.Content?
        var newestIssue: Date?
        var nextUpdate = Date(timeIntervalSince1970: 0)
        var entityTag = ""
        var error: StoreError?
        /// Whether a document may exist that cannot be read yet, as before a device is first unlocked.
        var isUnread = false
        /// The mark of the stored document; nil if nothing is stored.
        var mark: StorageMark?
    }

    let format: Format
    let now: Date

    func load(from dataStore: any SecureDataStore) -> Result {
        guard format.configurationError == nil else { return Result() }
        let data: Data?
        do {
            data = try dataStore.reported(forKey: format.storageKey)
        } catch {
            return Result(
                error: damaged("one that cannot be read: \(ForeignErrorText.found(error))", error), isUnread: true)
        }
        return data.map(verified) ?? Result()
    }

    /// Verifies the data that was read.
    func verified(_ data: Data) -> Result {
        var result = read(data)
        result.mark = StorageMark(data)
        return result
    }

    private func read(_ data: Data) -> Result {
        guard let record = StoredRecord(data) else { return Result(error: damaged("one that is damaged", nil)) }
        guard record.format == format.recordFormat else {
            return Result(error: damaged("one of the other kind (\(record.format.rawValue))", nil))
        }
        guard record.origin == format.origin else {
            return Result(error: damaged("one of another server, key or mode", nil))
        }
        let newest = Date(wholeSeconds: record.newestIssue)
        do throws(DocumentError) {
            let time = TrustedTime(buildDate: format.buildDate, newestIssue: newest)
            let content = try format.content(of: record, issuedUpTo: newest, at: time.time(clock: now))
            return result(of: record, content, newest: newest)
        } catch {
            return Result(error: damaged("one that does not verify: \(ForeignErrorText.found(error))", error))
        }
    }

    /// The dates of a record are unsigned, so they are limited by the signed ones and the schedule. An attacker who can
    /// lower the newest issue time could also restore an older record.
    private func result(of record: StoredRecord, _ content: Format.Content, newest: Date) -> Result {
        var result = Result(content: content, entityTag: record.entityTag)
        result.newestIssue = format.issueTime(of: content).map { min($0, newest) }
        let latest = now.addingTimeInterval(format.longestInterval)
        result.nextUpdate = min(Date(wholeSeconds: record.nextUpdate), latest)
        return result
    }

    private func damaged(_ found: String, _ underlying: (any Error)?) -> StoreError {
        StoreError(.damagedStorage, expected: "a stored document", found: found, underlying: underlying)
    }
}

/// Identifies a stored record. Records end with a digest of their content, so records with equal marks are equal,
/// except for damaged ones, which are ignored anyway.
struct StorageMark: Sendable, Equatable {
    private let count: Int
    private let end: Data

    init(_ data: Data) {
        count = data.count
        end = Data(data.suffix(StoredRecord.digestLength))
    }
}
