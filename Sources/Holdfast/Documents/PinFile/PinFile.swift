public import struct Foundation.Date

/// A pin file: the hosts that an app connects to, the keys that each may have, and their ends (schema 1).
///
/// ```swift
/// guard let url = Bundle.main.url(forResource: "bank", withExtension: "pins.json") else { return }
/// let manager = try TrustManager(pinFile: url)
/// ```
/// There is one format: an app ships it, `holdfastctl export` turns it into other systems' configuration, and a signed
/// repository delivers it. docs/formats.md describes it without reference to a language. Every value of this type
/// follows all rules of the format and can be written.
public struct PinFile: Sendable, Hashable {
    /// The version of the format.
    package static let schema = 1

    /// The name of the app that the file is for, such as a bundle identifier.
    public let app: String?
    /// The time at which it was issued.
    public let issuedAt: Date?
    /// The last second for which it is current; nil if it never ends.
    package let notAfter: Date?
    /// The times at which a store downloads a newer file.
    package let refresh: Refresh?
    /// The hosts, in the order of the file; no pattern twice.
    package let hosts: [Host]
    /// Certificates that a debug build trusts if it enables them, such as that of a debugging proxy.
    package let debugAnchors: [X509Certificate]
    /// The hosts in the form in which they are looked up.
    let table: PinFileTable

    /// Makes a file for an `app` of 1 to 255 bytes of printable ASCII, with at most 1,000 hosts, no pattern twice, and
    /// at most 8 debug anchors. Times are cut to whole seconds.
    /// - Throws: ``PinFileError`` that names the field.
    package init(
        app: String? = nil, issuedAt: Date? = nil, notAfter: Date? = nil, refresh: Refresh? = nil, hosts: [Host],
        debugAnchors: [X509Certificate] = []
    ) throws(PinFileError) {
        if let app { try Self.check(app: app) }
        let issued = try issuedAt.map { date throws(PinFileError) in
            try PinFileTime.seconds(of: date, field: "issuedAt")
        }
        let end = try notAfter.map { date throws(PinFileError) in try PinFileTime.seconds(of: date, field: "notAfter") }
        if let issued, let end, end < issued {
            throw PinFileError(
                .contradiction, at: "notAfter", expected: "a time after issuedAt", found: "one before it",
                remedy: "Correct one of the two times.")
        }
        try Self.check(hosts: hosts)
        try Self.check(debugAnchors: debugAnchors)
        self.app = app
        self.issuedAt = issued.map(Date.init(wholeSeconds:))
        self.notAfter = end.map(Date.init(wholeSeconds:))
        self.refresh = refresh
        self.hosts = hosts
        self.debugAnchors = debugAnchors
        table = PinFileTable(
            hosts, until: Self.end(notAfter: self.notAfter, refresh) ?? .distantFuture,
            version: self.issuedAt.map(Self.version))
    }

    /// The version of the file, which distinguishes it from earlier and later ones in reports: the time at which it was
    /// issued, in the basic format of ISO 8601, `20261121T120000Z`; nil if the file does not state it.
    package var version: String? { issuedAt.map(Self.version) }

    private static func version(_ issuedAt: Date) -> String {
        issuedAt.formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
    }

    /// The first instant at which its pins have expired: after the last second of `notAfter` and of the grace period
    /// that follows it; nil if they never expire.
    public var end: Date? { Self.end(notAfter: notAfter, refresh) }

    private static func end(notAfter: Date?, _ refresh: Refresh?) -> Date? {
        notAfter.map { Date(end: $0.wholeSeconds + Int64(refresh?.grace ?? 0) + 1) }
    }
}

extension PinFile {
    private static func check(app: String) throws(PinFileError) {
        guard (1...PinFileLimits.appBytes).contains(app.utf8.count), app.isPrintableASCII else {
            throw PinFileError(
                .invalidValue, at: "app", expected: "1 to \(PinFileLimits.appBytes) octets of printable ASCII",
                found: app.quoted)
        }
    }

    private static func check(hosts: [Host]) throws(PinFileError) {
        guard hosts.count <= PinFileLimits.hosts else {
            throw PinFileError(.tooMany, at: "hosts", expected: "at most \(PinFileLimits.hosts) hosts", found: "more")
        }
        var seen: Set<HostPattern> = []
        for (index, host) in hosts.enumerated() where !seen.insert(host.pattern).inserted {
            throw PinFileError(
                .duplicateHost, at: "hosts[\(index)].host", expected: "each host once", found: "\(host.pattern) twice")
        }
    }

    private static func check(debugAnchors: [X509Certificate]) throws(PinFileError) {
        guard debugAnchors.count <= PinFileLimits.debugAnchors else {
            throw PinFileError(
                .tooMany, at: "debugAnchors", expected: "at most \(PinFileLimits.debugAnchors) anchors", found: "more")
        }
        for (index, anchor) in debugAnchors.enumerated() where anchor.der.count > PinFileLimits.anchorBytes {
            throw PinFileError(
                .tooLarge, at: "debugAnchors[\(index)]", expected: "at most \(PinFileLimits.anchorBytes) octets",
                found: "\(anchor.der.count)")
        }
    }
}

extension String {
    var isPrintableASCII: Bool { utf8.allSatisfy { (0x20..<0x7F).contains($0) } }
}
