import ArgumentParser
import Foundation
import Holdfast
import HoldfastPublishing

/// Which builds of the app are in the field, for every verb that says whether all clients get in. As long as nobody has
/// said it, the answer is unknown.
struct ShippedPinOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A version of the app in the field, and the pin file that it carries: VERSION=FILE, or VERSION alone if it "
                + "carries none. Repeatable.", valueName: "version[=file]"))
    var shipped: [String] = []

    @Flag(help: "No version of the app in the field carries pins.")
    var noShippedPins = false

    /// What to do if nobody has said it.
    static let remedy =
        "say with --shipped which versions of the app are in the field, or with --no-shipped-pins that none of them "
        + "carries pins"

    var isEmpty: Bool { shipped.isEmpty && !noShippedPins }

    func validate() throws {
        guard shipped.isEmpty || !noShippedPins else {
            throw ValidationError("Give --shipped or --no-shipped-pins, not both.")
        }
    }

    /// A name, and the file behind its equals sign.
    static func pair(_ text: String) -> (name: String, file: String?) {
        guard let sign = text.firstIndex(of: "=") else { return (text, nil) }
        let file = text[text.index(after: sign)...]
        return (String(text[..<sign]), file.isEmpty ? nil : String(file))
    }

    /// The builds that carry a pin file, as documents.
    func documents(at time: Date) throws(CommandFailure) -> [PublishedPins] {
        var documents: [PublishedPins] = []
        for text in shipped {
            let (version, file) = Self.pair(text)
            guard let file else { continue }
            let data = try InputFile.content(of: file, maximumBytes: DocumentLimits().bytes + 1)
            documents.append(
                try CommandFailure.rethrowing { () throws(PublishingError) in
                    try PublishedPins(pinFile: data, named: file, carriedBy: [version], at: time)
                })
        }
        return documents
    }

    /// The builds in the field: those that options name, and those that documents name.
    func appVersions(carrying documents: [PublicationOutlook.Document]) -> PublicationOutlook.AppVersions {
        guard !noShippedPins else { return .noShippedPins }
        let bare = shipped.map(Self.pair).filter { $0.file == nil }
            .map { PublicationOutlook.AppVersion($0.name, carriesDocument: false) }
        let carrying = documents.flatMap(\.appVersions).map { PublicationOutlook.AppVersion($0) }
        return bare.isEmpty && carrying.isEmpty ? .unknown : .versions(carrying + bare)
    }
}
