package import HoldfastTUF

/// Metadata of a repository that has expired. A client can only check its clock; the publisher can renew the role.
package struct ExpiredMetadata: Sendable {
    /// The role: `root`, `targets`, `snapshot` or `timestamp`.
    package let role: String

    package init(role: String) { self.role = role }

    /// The metadata that expired according to a client's error; nil if that is not the reason.
    package init?(_ error: TUFError?) {
        guard let error, error.code == .expired, let subject = error.subject else { return nil }
        role = subject
    }

    /// The command that renews the role.
    /// - Parameter folder: the repository's folder, quoted for a shell.
    package func renewal(of folder: String) -> String {
        switch role {
        case "root": "holdfastctl repository rotate \(folder) --role root --key OFFLINE-KEY"
        case "targets": "holdfastctl repository pins \(folder) FILE.pins.json --key OFFLINE-KEY"
        default: "holdfastctl repository renew \(folder) --key ONLINE-KEY"
        }
    }
}
