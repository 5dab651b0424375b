import ArgumentParser
import Crypto
import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTUF

/// A root that the operator knows, for verbs that compare drafts with what is published: whoever writes to the folder can
/// replace all of it, or put an older state back, and no root in it says so.
struct RepositoryRootOption: ParsableArguments {
    @Option(
        name: .customLong("app-root"),
        help: ArgumentHelp(
            "The newest root that you know, from where you trust it: refuse a folder that does not have it.",
            valueName: "file"),
        completion: .file(extensions: ["json"]))
    var appRoot: String?

    /// - Parameter path: the folder, as messages name it.
    func check(_ state: TUFRepositoryState, in path: String) throws(CommandFailure) {
        guard let appRoot else { return }
        let root = try InputFile.content(of: appRoot, maximumBytes: TUFSettings().rootBytes)
        // Each follows on the one before by its signatures. An older one would also do, but it does not show that the
        // folder was put back.
        guard let roots = state.live?.roots, roots.contains(where: { $0.data == root }) else {
            throw CommandFailure(
                .invalidList,
                "\(path) is not the repository of \(appRoot): expected this root in it, found "
                    + (state.live == nil ? "nothing published" : "others; take the folder from where you trust it"))
        }
    }
}

extension TUFMetadataFile {
    /// What people compare.
    var fingerprint: String { HexText.text(of: SHA256.hash(data: data)) }
}
