/// Bounds of what is kept while a collector is away, in memory and on disk. They are generous for a client, which has a few
/// hosts and failures, and small for a device.
enum ReportLimits {
    /// Reports that wait, and their octets as they are stored.
    static let mostPending = 64
    static let mostPendingOctets = 128 << 10
    /// After this a report is not worth sending.
    static let longestWait = Duration.seconds(7 * 86_400)
    /// Failures whose last report is remembered.
    static let mostSubjects = 256
    /// Hosts under a version of a document that are counted in a day, and kinds of failures of each.
    static let mostPlaces = 64
    static let mostDetails = 16
    /// A stored state with more octets is not read.
    static let mostStoredOctets = 512 << 10
    /// A host has at most 253 octets, and its pattern three more; codes and versions are short.
    static let longestText = 256
    /// The last second of the year 9999: RFC 3339 has no later one.
    static let lastSecond: Int64 = 253_402_300_799
    /// At most this long after a failure it is reported, so that the clients that a bad pin locks out at one moment do not
    /// report it at one moment.
    static let spread = Duration.seconds(30)
    /// After midnight, summaries of a day are sent at a random time within this span (RFC 8460 section 4.1).
    static let summarySpread = Duration.seconds(4 * 3_600)
    /// At most this long after a change, counts are stored.
    static let savingInterval = Duration.seconds(60)
    /// The longest time that a collector can ask to be left alone.
    static let longestPause = Duration.seconds(86_400)
}
