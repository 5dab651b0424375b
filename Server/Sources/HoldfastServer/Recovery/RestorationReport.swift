package import ServerFoundation
package import ServerModel

/// The findings and actions of restoring a backup.
package struct RestorationReport: Sendable, Hashable {
    /// The end of the audit of the backup.
    package internal(set) var head: AuditHead
    /// The number of entries of the audit after the backup; nil if unknown.
    package internal(set) var lost: Int64?
    /// The paths of public documents that are newer than the backup and stay.
    package internal(set) var adopted: [String] = []
    /// The paths of public documents that differ and are unsigned, or signed by a key that the backup does not have.
    /// They stay until the next publication.
    package internal(set) var withheld: [String] = []
    /// The paths of public documents of apps that are not in the backup.
    package internal(set) var unknown: [String] = []
    /// The apps that sign nothing before their next publication.
    package internal(set) var held: [AppName] = []
    /// The open changes, which lapsed.
    package internal(set) var lapsed: [RandomID] = []
    /// The number of deleted tokens.
    package internal(set) var tokens = 0
    /// The index of the statement of approvers in force.
    package internal(set) var approvers: Int64 = 0
}
