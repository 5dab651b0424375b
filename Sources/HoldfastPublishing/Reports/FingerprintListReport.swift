package import Foundation
package import Holdfast
import HoldfastSigning

/// A report on a list. Its fields are those of the JSON objects.
package struct FingerprintListReport: Sendable, Encodable {
    package struct Entry: Sendable, Encodable {
        package enum State: String, Sendable, Encodable {
            case valid, expired
            /// No client looks up its name.
            case unusable
        }

        package let state: State
        package let name: String
        /// The fingerprint in the form of the list.
        package let fingerprint: String
        /// The fingerprint in the form that all commands print.
        package let certificatePin: String
        /// The expiration in Unix seconds, as it was signed.
        package let expires: Int64
        /// The expiration in ISO 8601.
        package let expiryDate: String
        /// Whole days until then; negative after that.
        package let daysLeft: Int
        /// Absent for the server's own certificate.
        package let depth: Int?
        /// Why no client looks up the name; absent for names that clients look up.
        package let problem: String?

        package init(_ entry: FingerprintEntry, now: Date) {
            problem = FingerprintEntry.objection(toName: entry.name)
            state = entry.expires < now.wholeSeconds ? .expired : problem == nil ? .valid : .unusable
            name = entry.name
            fingerprint = entry.fingerprint
            certificatePin = entry.pin.description
            expires = entry.expires
            expiryDate = entry.expiryDate.formatted(.iso8601)
            daysLeft = DaysLeft.days(until: entry.expiryDate, from: now)
            depth = entry.depth == 0 ? nil : entry.depth
        }

        /// When it expires, in the same form as for certificates.
        package var remaining: String { DaysLeft.text(daysLeft) }

        /// Whether it expires after the year 9999, which is not a valid time in seconds.
        package var expiresTooLate: Bool { expires > FingerprintEntry.latestExpiry }
    }

    package let file: String
    /// The time at which the entries were checked, in ISO 8601.
    package let time: String
    private let start: Int64
    /// Whether the signatures were verified.
    package let verified: Bool
    package let entries: [Entry]
    /// Names with only one unexpired fingerprint.
    package let namesWithoutBackup: [String]
    /// Whether the list states which hosts need no pins. That part is not signed, and clients ignore it.
    package let unsignedDomainsConfig: Bool
    /// The monitored time, as text; absent if nothing is monitored.
    package var watch: String?
    /// The monitored time in seconds.
    package var watchedSeconds: Int64?

    /// Verifies a list as clients do.
    /// - Parameters:
    ///   - list: the document.
    ///   - file: its name.
    ///   - key: the signer's key.
    ///   - now: the time at which the entries are checked.
    package init(
        verifying list: Data, named file: String, with key: DocumentPublicKey, at now: Date
    ) throws(DocumentError) {
        let verified = try FingerprintList(verifying: list, with: key)
        self.init(
            file: file, entries: verified.entries, hasDomains: verified.unsignedDomainsConfiguration != nil,
            verified: true, now: now)
    }

    /// Reads a list as strictly as clients do, but verifies no signature.
    package init(unverified list: Data, named file: String, at now: Date) throws(DocumentError) {
        let content = try UnverifiedFingerprintList(list)
        guard let entries = content.entries else {
            throw DocumentError(
                .missingField, field: "fingerprints", expected: "the entries of a list", found: "no such field")
        }
        self.init(file: file, entries: entries, hasDomains: content.hasDomains, verified: false, now: now)
    }

    private init(file: String, entries: [FingerprintEntry], hasDomains: Bool, verified: Bool, now: Date) {
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

    package var expired: Int { entries.count { $0.state == .expired } }

    /// The number of unexpired entries for names that no client looks up.
    package var unusable: Int { entries.count { $0.state == .unusable } }

    /// The number of entries that are valid now but expire within the monitored time.
    package var expiringSoon: Int {
        entries.count { $0.state == .valid && isSoon($0) }
    }

    package func isSoon(_ entry: Entry) -> Bool {
        watchedSeconds.map { entry.expires < start + $0 } ?? false
    }
}
