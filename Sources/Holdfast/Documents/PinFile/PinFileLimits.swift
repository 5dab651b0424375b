/// How much a pin file may hold. Past a limit, reading ends with an error that names the field. A file within the
/// limits can be written and read back.
package enum PinFileLimits {
    /// Octets of a file: enough for the largest file within the limits below, as the writer writes it.
    package static let bytes = 8 << 20
    /// Hosts of a file. An app dials some dozens; names of one domain share a pattern.
    static let hosts = 1_000
    /// Pins of a host: two key types, their successors and backups, and the roots of an authority, which are about ten.
    static let pins = 32
    /// Ports of a host.
    static let ports = 16
    /// Debug anchors: one for each proxy and test authority of a team.
    static let debugAnchors = 8
    /// Octets of a debug anchor in DER. A certificate with an RSA key of 8192 bits takes 3,000.
    static let anchorBytes = 8_192
    /// Octets of a host as written, in Unicode: a DNS name has 253 characters of at most four octets.
    static let hostBytes = 1_024
    /// Octets of the name of an app.
    static let appBytes = 255
    /// Octets of an address to report to.
    static let urlBytes = 1_024
    /// Names in `critical`: more than an object has fields.
    static let criticalFields = 64
    /// The longest span, ten years of seconds: it keeps every sum of a time and spans near the calendar's range.
    static let span: Int64 = 315_360_000
    /// The last second of the year 9999, which has the last year of four digits (RFC 3339 1).
    static let lastSecond: Int64 = 253_402_300_799
}
