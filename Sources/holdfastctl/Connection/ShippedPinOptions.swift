import ArgumentParser
import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTUF

/// The builds of the app in the field, for every verb that reports whether all clients can connect. Without these
/// options the answer is unknown.
struct ShippedPinOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A version of the app in the field, and the pin file or the bundle of a repository that it carries: "
                + "VERSION=FILE, or VERSION alone if it carries no pins. Repeatable.", valueName: "version[=file]"))
    var shipped: [String] = []

    @Option(
        name: .customLong("shipped-root"),
        help: ArgumentHelp(
            "Of a version that carries a bundle: the root that it was built with, VERSION=FILE. Repeatable. Otherwise "
                + "it is the root of --app-root, or the first one of the repository.", valueName: "version=file"))
    var shippedRoot: [String] = []

    @Option(
        name: .customLong("shipped-grace"),
        help: ArgumentHelp(
            "Of versions that carry a bundle: for how long after its notAfter they enforce its pins, if the bundle does "
                + "not say longer.", valueName: "span"),
        transform: TimeSpan.read)
    var shippedGrace = TimeSpan(seconds: 0)

    @Flag(help: "No version of the app in the field carries pins.")
    var noShippedPins = false

    /// The remedy if the options are missing.
    static let remedy =
        "say with --shipped which versions of the app are in the field, or with --no-shipped-pins that none of them "
        + "carries pins"

    var isEmpty: Bool { shipped.isEmpty && !noShippedPins }

    func validate() throws {
        guard shipped.isEmpty || !noShippedPins else {
            throw ValidationError("Give --shipped or --no-shipped-pins, not both.")
        }
        for text in shippedRoot {
            let (version, file) = Self.pair(text)
            let isShipped = shipped.contains { Self.pair($0).name.utf8.elementsEqual(version.utf8) }
            guard file != nil, isShipped else {
                throw ValidationError(
                    "--shipped-root: expected VERSION=FILE of a version that --shipped names, found \(text.quoted).")
            }
        }
    }

    /// A name, and the file after its equals sign.
    static func pair(_ text: String) -> (name: String, file: String?) {
        guard let sign = text.firstIndex(of: "=") else { return (text, nil) }
        let file = text[text.index(after: sign)...]
        return (String(text[..<sign]), file.isEmpty ? nil : String(file))
    }

    /// The builds that carry pins, as documents.
    /// - Parameter root: the root of builds that carry a bundle and that `--shipped-root` does not name; nil if it is
    ///   unknown.
    func documents(builtWith root: Data? = nil, at time: Date) throws(CommandFailure) -> [PublishedPins] {
        var documents: [PublishedPins] = []
        for text in shipped {
            let (version, file) = Self.pair(text)
            guard let file else { continue }
            let data = try InputFile.content(of: file, maximumBytes: Self.maximumBytes)
            let isBundle = DocumentKind(data) == .bundle
            let ownRoot = try isBundle ? self.root(of: version) ?? root : nil
            guard !isBundle || ownRoot != nil else {
                throw CommandFailure(
                    .wrongUsage,
                    "--shipped: \(file) is the bundle of a repository; name the root that \(version) was built with: "
                        + "--shipped-root \(version)=FILE")
            }
            documents.append(
                try CommandFailure.rethrowing { () throws(PublishingError) in
                    guard let ownRoot else {
                        return try PublishedPins(pinFile: data, named: file, carriedBy: [version], at: time)
                    }
                    return try PublishedPins(
                        shippedBundle: data, root: ownRoot, grace: .seconds(shippedGrace.seconds), named: file,
                        carriedBy: [version], at: time)
                })
        }
        return documents
    }

    /// The root that a version was built with; nil if no option states it.
    private func root(of version: String) throws(CommandFailure) -> Data? {
        for text in shippedRoot {
            let (name, file) = Self.pair(text)
            guard name.utf8.elementsEqual(version.utf8), let file else { continue }
            return try InputFile.content(of: file, maximumBytes: TUFSettings().rootBytes)
        }
        return nil
    }

    /// One byte more than a pin file may have, or as many as a bundle may have.
    private static let maximumBytes = max(DocumentLimits().bytes + 1, 16 << 20)

    /// The builds in the field: those that options name, and those that documents name.
    func appVersions(carrying documents: [PublicationOutlook.Document]) -> PublicationOutlook.AppVersions {
        guard !noShippedPins else {
            // Apps get the pin file of a draft from a repository, and no build carries it.
            let isDraft = documents.contains { $0.kind == .shippedPins && $0.appVersions.isEmpty }
            return isDraft ? .versions([]) : .noShippedPins
        }
        let bare = shipped.map(Self.pair).filter { $0.file == nil }
            .map { PublicationOutlook.AppVersion($0.name, carriesDocument: false) }
        let carrying = documents.flatMap(\.appVersions).map { PublicationOutlook.AppVersion($0) }
        return bare.isEmpty && carrying.isEmpty ? .unknown : .versions(carrying + bare)
    }
}
