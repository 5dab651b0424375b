import ArgumentParser
import Foundation
import HoldfastPublishing

/// A root that the operator knows, for verbs that compare drafts with the published repository. Anyone who can write to the
/// folder can replace everything in it, or put an older state back, and no root in it shows that.
struct RepositoryRootOption: ParsableArguments {
    @Option(
        name: .customLong("app-root"),
        help: ArgumentHelp(
            "The newest root that you know, from a source that you trust: refuse a folder without it.",
            valueName: "file"),
        completion: .file(extensions: ["json"]))
    var appRoot: String?

    /// - Parameter path: the folder's name for messages.
    func check(_ state: TUFRepositoryState, in path: String) throws(CommandFailure) {
        guard let appRoot else { return }
        let root = try AppRoot.content(of: appRoot)
        // The signatures link each root to the one before it. So an older one is there as well, but it does not show that
        // the folder was put back to an older state.
        guard let roots = state.live?.roots, roots.contains(where: { $0.data == root }) else {
            throw CommandFailure(
                .invalidList,
                "\(path) is not the repository of \(appRoot): expected this root in it, found "
                    + (state.live == nil
                        ? "nothing published. Leave --app-root out until the first publication"
                        : "others. Take the folder, or the root, from where you trust it"))
        }
    }
}
