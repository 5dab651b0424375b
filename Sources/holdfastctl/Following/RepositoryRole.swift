import Foundation
import HoldfastPublishing

/// A role as clients have it, or as it is prepared.
struct RepositoryRole: Encodable {
    let role: String
    let version: Int64
    /// ISO 8601.
    let expires: String
    let daysLeft: Int
    let threshold: Int
    let keys: [String]
    /// The ids of the keys that have signed it.
    let signed: [String]
    let end: Date

    init(_ file: TUFMetadataFile, keys: [String], threshold: Int, signed: [String], at now: Date) {
        role = file.role.rawValue
        version = file.version
        expires = file.end.formatted(.iso8601)
        daysLeft = DaysLeft.days(until: file.end, from: now)
        self.threshold = threshold
        self.keys = keys
        self.signed = signed
        end = file.end
    }

    /// The role as an app trusts it.
    init(_ role: TUFFollowing.Role, at now: Date) {
        self.init(role.file, keys: role.keys, threshold: role.threshold, signed: role.signed, at: now)
    }

    private enum CodingKeys: CodingKey {
        case role, version, expires, daysLeft, threshold, keys, signed
    }
}
