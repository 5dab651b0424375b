import ArgumentParser
import Holdfast
import HoldfastPublishing

/// The platforms of clients, for every verb that reports whether all clients can connect.
struct PlatformOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Judge as clients that trust the certificates in this file (PEM or DER), such as those of a system: "
                + "NAME=FILE. Repeatable; all must get in. Otherwise the anchors are those of --ca, or this machine's.",
            valueName: "name=file"))
    var platform: [String] = []

    var isEmpty: Bool { platform.isEmpty }

    func validate() throws {
        for text in platform where ShippedPinOptions.pair(text).file == nil {
            throw ValidationError("--platform: expected NAME=FILE, found \(text.quoted).")
        }
    }

    /// - Parameters:
    ///   - anchors: the trusted authorities if no platform is named.
    ///   - name: the name of those anchors.
    ///   - lists: the revocation lists that clients have.
    func platforms(
        _ anchors: TrustAnchors, named name: String, lists: RevocationLists = RevocationLists()
    ) throws(CommandFailure) -> [PublicationOutlook.Platform] {
        let named = try self.named(lists: lists)
        return named.isEmpty ? [.init(name, trusting: anchors, revocationLists: lists.lists)] : named
    }

    /// The platforms that options name.
    func named(
        lists: RevocationLists = RevocationLists()
    ) throws(CommandFailure) -> [PublicationOutlook.Platform] {
        var platforms: [PublicationOutlook.Platform] = []
        for text in platform {
            let (name, file) = ShippedPinOptions.pair(text)
            platforms.append(
                .init(name, trusting: try InputFile.chain(of: file ?? "").anchors, revocationLists: lists.lists))
        }
        return platforms
    }
}
