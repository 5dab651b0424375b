import ArgumentParser
import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTUF

/// The published pins against which hosts are checked.
struct PublishedPinOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Check against the pins that clients have: a pin file, a signed list (--public-key), or a trust server's document "
                + "(--signer); a file, an https URL, which is fetched through the same proxy, or - for standard input. "
                + "Repeatable, for versions that clients hold at the same time: all must let the host in.",
            valueName: "file | url"),
        completion: .file())
    var pins: [String] = []

    @Option(
        help: ArgumentHelp(
            "Check against the pins that an app gets from a repository, with --app-root: the https URL of its folder "
                + "public, through the same proxy. Repeatable, each with its --app-root.", valueName: "url"))
    var repository: [String] = []

    @Option(
        name: .customLong("app-root"),
        help: ArgumentHelp(
            "Of a repository: the root that the app shipped with. Of one repository several may be named, for "
                + "several versions of the app.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var appRoot: [String] = []

    @Option(
        name: .customLong("public-key"),
        help: ArgumentHelp("Of a list: " + PublicKeyArgument.help, valueName: "public"),
        completion: .file(), transform: { text in CheckedArgument { try PublicKeyArgument.key(text) } })
    var key: CheckedArgument<DocumentPublicKey>?

    @Option(
        help: ArgumentHelp(
            "Of a trust server: the certificate that clients are configured with.", valueName: "file"),
        completion: .file())
    var signer: String?

    @Option(
        help: ArgumentHelp(
            "Of a trust server: the customer that clients are configured with, if another document's customer is an "
                + "error.", valueName: "name"))
    var customer: String?

    var isEmpty: Bool { pins.isEmpty && repository.isEmpty }

    func validate() throws {
        try key?.validate("--public-key")
        guard repository.count == appRoot.count || repository.count == 1 && !appRoot.isEmpty else {
            throw ValidationError("--repository goes with --app-root.")
        }
        for repository in repository { try RepositoryOrigin.validate(repository, "--repository") }
        guard !pins.isEmpty else {
            guard key == nil, signer == nil, customer == nil else {
                throw ValidationError("--public-key, --signer and --customer go with --pins.")
            }
            return
        }
        for pins in pins { try InputDocument.validate(pins, "--pins") }
        guard key == nil || signer == nil else {
            throw ValidationError("Give --public-key for a list or --signer for a trust server's document, not both.")
        }
        guard customer == nil || signer != nil else { throw ValidationError("--customer goes with --signer.") }
    }

    /// Reads all of them.
    func read(
        at time: Date, connection: ConnectionOptions, anchors: () async throws(CommandFailure) -> TrustAnchors
    ) async throws(CommandFailure) -> [PublishedPins] {
        var versions: [PublishedPins] = []
        for (position, file) in appRoot.enumerated() {
            let url = repository[repository.count == 1 ? 0 : position]
            let root = try InputFile.content(of: file, maximumBytes: TUFSettings().rootBytes)
            let origin = try await RepositoryOrigin(
                url, timeout: connection.timeout, through: connection.proxiesOfDownloads, anchors: anchors)
            versions.append(try await origin.pins(root: root, at: time))
        }
        for pins in pins {
            let source = try InputDocument(pins)
            let data = try await source.content(
                maximumBytes: DocumentLimits().bytes + 1, timeout: connection.timeout,
                through: connection.proxiesOfDownloads, anchors: anchors)
            versions.append(try version(of: data, named: source.name, at: time))
        }
        return versions
    }

    /// The root of the apps, if it is clear which; nil otherwise.
    func onlyRoot() throws(CommandFailure) -> Data? {
        guard let file = appRoot.first, appRoot.count == 1 else { return nil }
        return try InputFile.content(of: file, maximumBytes: TUFSettings().rootBytes)
    }

    /// Reads a document of which another took the place, for each kind of client that is configured like these options.
    /// - Parameter data: a bundle of a repository too, which clients hold longer than its timestamp lasts.
    func earlier(
        _ data: Data, named name: String, at time: Date
    ) throws(CommandFailure) -> [PublicationOutlook.Document] {
        guard DocumentKind(data) == .bundle, !appRoot.isEmpty else {
            return [try version(of: data, named: name, at: time).document]
        }
        var documents: [PublicationOutlook.Document] = []
        for file in appRoot {
            let root = try InputFile.content(of: file, maximumBytes: TUFSettings().rootBytes)
            documents.append(.init(name, kind: .repository(root: root), octets: data, published: time))
        }
        return documents
    }

    /// Reads a document as clients do that are configured like these options. A pin file is what a version of the app
    /// carries that nobody has given another name.
    func version(of data: Data, named name: String, at time: Date) throws(CommandFailure) -> PublishedPins {
        let key = try key?.get()
        let certificate: Data? = if let signer { try KeyFile.content(of: signer) } else { nil }
        return try CommandFailure.rethrowing { () throws(PublishingError) in
            if let key { return try PublishedPins(list: data, named: name, key: key, at: time) }
            guard let certificate else {
                return try PublishedPins(
                    pinFile: data, named: name, carriedBy: [name],
                    remedies: [
                        .signedList: "Give the signer's public key with --public-key.",
                        .trustServerDocument: "Give its signer's certificate with --signer.",
                    ], at: time)
            }
            return try PublishedPins(
                trustServerDocument: data, named: name, signer: certificate, customer: customer, at: time)
        }
    }
}
