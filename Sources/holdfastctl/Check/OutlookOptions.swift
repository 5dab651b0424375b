import ArgumentParser
import Foundation
import Holdfast
import HoldfastPublishing

/// What an outlook needs to know that no host shows: which builds are in the field, what clients may still hold, and
/// where they run.
struct OutlookOptions: ParsableArguments {
    @OptionGroup
    var builds: ShippedPinOptions

    @Option(
        help: ArgumentHelp(
            "A document of the same kind that was published before, with the time at which another took its place: "
                + "FILE@TIME. Clients may still have it. Repeatable.", valueName: "file@time"))
    var replaced: [String] = []

    @Option(
        help: ArgumentHelp(
            "The longest time for which a client may not have asked for a new document.", valueName: "span"),
        transform: TimeSpan.read)
    var staleness = TimeSpan.days(30)

    @Option(
        help: ArgumentHelp(
            "Judge as clients that trust the certificates in this file (PEM or DER), such as those of a system: "
                + "NAME=FILE. Repeatable; all must get in. Otherwise the anchors are those of --ca, or this machine's.",
            valueName: "name=file"))
    var platform: [String] = []

    @Option(
        name: .customLong("renewed-every"),
        help: ArgumentHelp(
            "Of a repository: the longest time between two renewals, which must be going on. Without it, the end of its "
                + "timestamp counts.", valueName: "span"),
        transform: TimeSpan.read)
    var renewedEvery: TimeSpan?

    @Option(
        name: .customLong("lifetime"),
        help: ArgumentHelp("Of a repository: how long each renewal makes the timestamp last.", valueName: "span"),
        transform: TimeSpan.read)
    var lifetime = TimeSpan.days(14)

    var isEmpty: Bool {
        builds.isEmpty && replaced.isEmpty && platform.isEmpty && renewedEvery == nil
    }

    func validate() throws {
        do throws(CommandFailure) {
            for text in replaced { _ = try Self.replaced(text) }
        } catch {
            throw ValidationError("--replaced: \(error.message).")
        }
        for text in platform where ShippedPinOptions.pair(text).file == nil {
            throw ValidationError("--platform: expected NAME=FILE, found \(text.quoted).")
        }
    }

    private static func replaced(_ text: String) throws(CommandFailure) -> (file: String, time: Date) {
        guard let sign = text.lastIndex(of: "@"), sign > text.startIndex,
            let seconds = try? TimeArgument.seconds(String(text[text.index(after: sign)...]))
        else { throw CommandFailure(.wrongUsage, "expected FILE@TIME, found \(text.quoted)") }
        return (String(text[..<sign]), Date(wholeSeconds: seconds))
    }

    // MARK: Inputs

    /// What was published before, read as the published documents are: a repository's once for each root of the apps.
    func replacedDocuments(
        _ read: (Data, String) throws(CommandFailure) -> [PublicationOutlook.Document]
    ) throws(CommandFailure) -> [PublicationOutlook.Document] {
        var documents: [PublicationOutlook.Document] = []
        for text in replaced {
            let (file, time) = try Self.replaced(text)
            for var document in try read(try InputFile.content(of: file, maximumBytes: Self.maximumBytes), file) {
                guard document.kind != .shippedPins else {
                    throw CommandFailure(
                        .wrongUsage, "--replaced: \(file) is a pin file, which builds carry; give it with --shipped")
                }
                (document.published, document.replaced) = (.distantPast, time)
                documents.append(document)
            }
        }
        return documents
    }

    /// The most octets of a document from before: those of a bundle that an outlook judges.
    private static let maximumBytes = 16 << 20

    /// - Parameters:
    ///   - anchors: what is trusted if no platform is named.
    ///   - name: what those anchors are called.
    ///   - lists: the revocation lists that clients have.
    func platforms(
        _ anchors: TrustAnchors, named name: String, lists: RevocationLists
    ) throws(CommandFailure) -> [PublicationOutlook.Platform] {
        guard !platform.isEmpty else { return Self.platform(anchors, named: name, lists: lists) }
        var platforms: [PublicationOutlook.Platform] = []
        for text in platform {
            let (name, file) = ShippedPinOptions.pair(text)
            let anchors = try InputFile.chain(of: file ?? "").anchors
            platforms += Self.platform(anchors, named: name, lists: lists)
        }
        return platforms
    }

    /// The one platform with these anchors.
    static func platform(
        _ anchors: TrustAnchors, named name: String, lists: RevocationLists = RevocationLists()
    ) -> [PublicationOutlook.Platform] {
        [.init(name, trusting: anchors, revocationLists: lists.lists)]
    }
}
