/// Limits on the content of a pin file. Past a limit, reading ends with an error that names the field. A file within
/// the limits can be written and read back.
package enum PinFileLimits {
    /// Maximum number of bytes of a file: enough for the largest file within the limits below, as the writer writes it.
    package static let bytes = 8 << 20
    /// Maximum number of hosts of a file. An app connects to some dozens; names of one domain share a pattern.
    static let hosts = 1_000
    /// Maximum number of pins of a host: two key types, their successors and backups, and an authority's roots, about
    /// ten.
    static let pins = 32
    /// Maximum number of ports of a host.
    static let ports = 16
    /// Maximum number of debug anchors: one for each proxy and test authority of a team.
    static let debugAnchors = 8
    /// Maximum number of bytes of a debug anchor in DER. A certificate with an RSA key of 8192 bits takes 3,000.
    static let anchorBytes = 8_192
    /// Maximum number of bytes of a host as written, in Unicode: a DNS name has 253 characters of at most four bytes.
    static let hostBytes = 1_024
    /// Maximum number of bytes of the name of an app.
    static let appBytes = 255
    /// Maximum number of bytes of a report URL.
    static let urlBytes = 1_024
    /// Maximum number of names in `critical`: more than an object has fields.
    static let criticalFields = 64
    /// The maximum span, ten years of seconds: it keeps every sum of a time and spans near the calendar's range.
    static let span: Int64 = 315_360_000
    /// The last second of the year 9999, which has the last year of four digits (RFC 3339 1).
    static let lastSecond: Int64 = 253_402_300_799
}
