import ArgumentParser
import Foundation
import Holdfast
import HoldfastPublishing

/// Earlier publications, for verbs that report whether all clients can connect or what to do next.
struct ReplacedDocumentOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A document of the same kind that was published before, with the time at which another took its place: "
                + "FILE@TIME. Clients may still have it. Repeatable.", valueName: "file@time"))
    var replaced: [String] = []

    var isEmpty: Bool { replaced.isEmpty }

    func validate() throws {
        do throws(CommandFailure) {
            for text in replaced { _ = try Self.parts(text) }
        } catch {
            throw ValidationError("--replaced: \(error.message).")
        }
    }

    private static func parts(_ text: String) throws(CommandFailure) -> (file: String, time: Date) {
        guard let sign = text.lastIndex(of: "@"), sign > text.startIndex,
            let seconds = try? TimeArgument.seconds(String(text[text.index(after: sign)...]))
        else {
            throw CommandFailure(
                .wrongUsage, "expected FILE@TIME, such as old.json@2027-02-19T12:00:00Z, found \(text.quoted)")
        }
        return (String(text[..<sign]), Date(wholeSeconds: seconds))
    }

    /// The assumption of an answer about the time before all named documents; nil if no document is named.
    var premise: String? {
        let known = replaced.compactMap { try? Self.parts($0) }
        return known.min { $0.time < $1.time }.map {
            "nobody holds what \($0.file) replaced: it was there for as long as clients use a document"
        }
    }

    /// Each file with the time at which it was replaced.
    func files() throws(CommandFailure) -> [(name: String, data: Data, replaced: Date)] {
        var files: [(name: String, data: Data, replaced: Date)] = []
        for text in replaced {
            let (file, time) = try Self.parts(text)
            files.append((file, try InputFile.content(of: file, maximumBytes: Self.maximumBytes), time))
        }
        return files
    }

    /// Earlier publications, read like the published documents: a repository's once for each root of the apps.
    func documents(
        _ read: (Data, String) throws(CommandFailure) -> [PublicationOutlook.Document]
    ) throws(CommandFailure) -> [PublicationOutlook.Document] {
        var documents: [PublicationOutlook.Document] = []
        for (file, data, time) in try files() {
            for var document in try read(data, file) {
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

    /// The bundles that clients of a repository held before.
    /// - Parameter roots: the roots with which their apps were built.
    func bundles(provedFrom roots: [Data]) throws(CommandFailure) -> [PublicationOutlook.Document] {
        try documents { data, name throws(CommandFailure) in
            guard DocumentKind(data) == .bundle else {
                throw CommandFailure(
                    .wrongUsage, "--replaced: \(name) is no bundle of a repository; give bundle.json as it was served")
            }
            return roots.map { .init(name, kind: .repository(root: $0), octets: data, published: .distantPast) }
        }
    }

    /// The documents that clients of a trust server held before.
    func documents(
        signedBy certificate: Data, customer: String, at now: Date
    ) throws(CommandFailure) -> [PublicationOutlook.Document] {
        try documents { data, name throws(CommandFailure) in
            try CommandFailure.rethrowing { () throws(PublishingError) in
                [
                    try PublishedPins(
                        trustServerDocument: data, named: name, signer: certificate, customer: customer, at: now
                    ).documentOfOwnHosts
                ]
            }
        }
    }

    /// The maximum size of an earlier document in bytes, which is that of a bundle in an outlook.
    private static let maximumBytes = 16 << 20
}
