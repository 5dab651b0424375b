package import Foundation

extension TUFRepositoryState.Live {
    /// The files that have expired, in the order in which clients request them: root first.
    package func expired(at time: Date) -> [TUFMetadataFile] {
        [root, timestamp, snapshot, targets].compactMap(\.self).filter { $0.end <= time }
    }

    /// The commands that make clients accept the repository again, in their order.
    /// - Parameter folder: the repository's folder, quoted for a shell.
    package func renewals(of folder: String, at time: Date) -> [String] {
        let ended = expired(at: time).map(\.role)
        let offline = [TUFRole.root, .targets].filter(ended.contains)
        guard !offline.isEmpty else { return ended.prefix(1).map { renewal(of: $0, in: folder) } }
        // A publication signs snapshot and timestamp as well.
        return offline.map { renewal(of: $0, in: folder) } + [
            "holdfastctl repository publish \(folder) --key ONLINE-KEY"
        ]
    }

    private func renewal(of role: TUFRole, in folder: String) -> String {
        ExpiredMetadata(role: role.rawValue).renewal(of: folder)
    }
}
