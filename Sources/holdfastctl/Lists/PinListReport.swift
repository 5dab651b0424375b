import Foundation
import Holdfast
import HoldfastOutput
import HoldfastSigning

/// A report on a list. Its fields are those of the JSON objects.
struct PinListReport: Encodable {
    struct Entry: Encodable {
        enum State: String, Encodable {
            case valid, expired
        }

        let state: State
        let name: String
        /// As the list writes it.
        let fingerprint: String
        /// The same as every verb prints it.
        let certificatePin: String
        /// The expiration in Unix seconds, as it was signed.
        let expires: Int64
        /// The expiration in ISO 8601.
        let expiryDate: String
        /// Whole days until then; negative after that.
        let daysLeft: Int
        /// Absent for the server's own certificate.
        let depth: Int?

        init(_ entry: FingerprintEntry, now: Date) {
            state = entry.expires >= now.wholeSeconds ? .valid : .expired
            name = entry.name
            fingerprint = entry.fingerprint
            certificatePin = entry.pin.description
            expires = entry.expires
            expiryDate = entry.expiryDate.formatted(.iso8601)
            daysLeft = DaysLeft.days(until: entry.expiryDate, from: now)
            depth = entry.depth == 0 ? nil : entry.depth
        }

        /// When it expires, in the same words as for certificates.
        var remaining: String { DaysLeft.text(daysLeft) }
    }

    let file: String
    /// The time at which the entries were checked, in ISO 8601.
    let time: String
    private let start: Int64
    /// Whether the signatures were verified.
    let verified: Bool
    let entries: [Entry]
    /// Names that have only one unexpired fingerprint.
    let namesWithoutBackup: [String]
    /// Whether the list says which hosts need no pins. That part is not signed, and clients ignore it.
    let unsignedDomainsConfig: Bool
    /// The time of --watch; absent without it.
    var watch: TimeSpan?

    init(file: String, entries: [FingerprintEntry], hasDomains: Bool, verified: Bool, now: Date) {
        self.file = file
        self.verified = verified
        time = now.formatted(.iso8601)
        start = now.wholeSeconds
        let draft = PinListDraft(entries)
        self.entries = entries.map { Entry($0, now: now) }
        namesWithoutBackup = draft.namesWithoutBackup(at: Date(wholeSeconds: now.wholeSeconds))
        unsignedDomainsConfig = hasDomains
    }

    private enum CodingKeys: CodingKey {
        case file, time, verified, entries, namesWithoutBackup, unsignedDomainsConfig, watch
    }

    var expired: Int { entries.count { $0.state == .expired } }

    /// How many entries are valid now but expire within the time of --watch.
    var expiringSoon: Int {
        entries.count { $0.state == .valid && isSoon($0) }
    }

    private func isSoon(_ entry: Entry) -> Bool {
        watch.map { entry.expires < start + $0.seconds } ?? false
    }

    func print(to output: Output) {
        let width = min(60, entries.map(\.name.count).max() ?? 0)
        for entry in entries {
            let isSoon = isSoon(entry)
            let depth = entry.depth.map { "  depth \($0)" } ?? ""
            output.line(
                .init(entry.state.rawValue.padded(to: 9), entry.state == .expired || isSoon ? .bad : .good),
                .init(SafeText.escapedLine(entry.name).padded(to: width)), .init("  "),
                .init(entry.remaining.padded(to: 22), isSoon ? .bad : .plain), .init("  \(entry.expiryDate)  "),
                .init(entry.certificatePin + depth, .faint))
        }
    }

    /// Prints warnings for the operator on standard error.
    func warn(_ output: Output) {
        Self.warn(ofNamesWithoutBackup: namesWithoutBackup, output)
        for entry in entries where entry.expires > TimeArgument.latest {
            output.remark(
                "warning: an entry of \(SafeText.escapedLine(entry.name)) expires after the year 9999: are its seconds "
                    + "milliseconds? Until then clients trust the certificate")
        }
        if unsignedDomainsConfig {
            output.remark("warning: domainsConfig of a list is not signed, and clients of Holdfast do not follow it")
        }
    }

    static func warn(ofNamesWithoutBackup names: [String], _ output: Output) {
        for name in names {
            output.remark(
                "warning: \(SafeText.escapedLine(name)) has one fingerprint and no backup: when that certificate must be "
                    + "replaced at once, clients lose the host. Sign the certificate that will follow it as well.")
        }
    }
}
