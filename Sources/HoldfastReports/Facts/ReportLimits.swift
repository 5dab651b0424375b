/// Limits of the data that is kept while a collector is unavailable, in memory and on disk. They are generous for a
/// client, which has a few hosts and failures, and small for a device.
enum ReportLimits {
    /// Maximum number of pending reports, and of their bytes as stored.
    static let mostPending = 64
    static let mostPendingOctets = 128 << 10
    /// Older reports are not worth sending.
    static let longestWait = Duration.seconds(7 * 86_400)
    /// Maximum number of failures whose last report is remembered.
    static let mostSubjects = 256
    /// Maximum number of counted hosts per version of a document and day, and of failure kinds of each.
    static let mostPlaces = 64
    static let mostDetails = 16
    /// Maximum number of bytes of a stored state.
    static let mostStoredOctets = 512 << 10
    /// A host has at most 253 bytes, and its pattern three more; codes and versions are short.
    static let longestText = 256
    /// The last second of the year 9999: RFC 3339 has no later one.
    static let lastSecond: Int64 = 253_402_300_799
    /// Maximum delay of a report after its failure. It spreads the reports of clients that a bad pin locks out at the
    /// same moment.
    static let spread = Duration.seconds(30)
    /// After midnight, summaries of a day are sent at a random time within this span (RFC 8460 section 4.1).
    static let summarySpread = Duration.seconds(4 * 3_600)
    /// Maximum time between a change of counts and its storage.
    static let savingInterval = Duration.seconds(60)
    /// Maximum pause that a collector can request.
    static let longestPause = Duration.seconds(86_400)
}
