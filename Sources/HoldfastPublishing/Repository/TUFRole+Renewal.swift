package import Foundation
package import HoldfastTUF

extension TUFRole {
    /// The role whose metadata has expired, according to a client's error; nil if that is not the reason.
    package init?(expiredIn error: TUFError?) {
        guard let error, error.code == .expired, let subject = error.subject,
            let role = TUFRole.allCases.first(where: { $0.rawValue.utf8.elementsEqual(subject.utf8) })
        else { return nil }
        self = role
    }

    /// The command of whoever publishes that makes the role last again. A client can only check its clock.
    /// - Parameter folder: the repository's folder as a word of a shell.
    package func renewal(of folder: String) -> String {
        switch self {
        case .root: "holdfastctl repository rotate \(folder) --role root --key OFFLINE-KEY"
        case .targets: "holdfastctl repository pins \(folder) FILE.pins.json --key OFFLINE-KEY"
        case .snapshot, .timestamp: "holdfastctl repository renew \(folder) --key ONLINE-KEY"
        }
    }
}

extension TUFRepositoryState.Live {
    /// The files that have expired, in the order in which clients ask for them: root first.
    package func expired(at time: Date) -> [TUFMetadataFile] {
        [root, timestamp, snapshot, targets].compactMap(\.self).filter { $0.end <= time }
    }

    /// The commands that make clients accept the repository again, in their order.
    /// - Parameter folder: the repository's folder as a word of a shell.
    package func renewals(of folder: String, at time: Date) -> [String] {
        let ended = expired(at: time).map(\.role)
        let offline = [TUFRole.root, .targets].filter(ended.contains)
        guard !offline.isEmpty else { return ended.prefix(1).map { $0.renewal(of: folder) } }
        // A publication signs snapshot and timestamp as well.
        return offline.map { $0.renewal(of: folder) } + ["holdfastctl repository publish \(folder) --key ONLINE-KEY"]
    }
}
