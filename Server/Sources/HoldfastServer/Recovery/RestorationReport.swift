/// What restoring a backup found and did.
public struct RestorationReport: Sendable, Hashable {
    /// The end of the audit of the backup.
    public internal(set) var head: AuditHead
    /// How many entries of the audit came after the backup; nil if nobody knows.
    public internal(set) var lost: Int64?
    /// The paths of what is public and newer than the backup, and which stays.
    public internal(set) var adopted: [String] = []
    /// The paths of what is public, differs, and is signed by nobody or by a key that the backup does not have. It stays
    /// where it is until the next publication.
    public internal(set) var withheld: [String] = []
    /// The paths of what is public and of no app of the backup.
    public internal(set) var unknown: [String] = []
    /// The apps that sign nothing before their next publication.
    public internal(set) var held: [AppName] = []
    /// The changes that were open.
    public internal(set) var lapsed: [RandomID] = []
    /// How many tokens were ended.
    public internal(set) var tokens = 0
    /// The statement of approvers that counts.
    public internal(set) var approvers: Int64 = 0
}
