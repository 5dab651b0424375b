import ArgumentParser
import Foundation
import Holdfast
import HoldfastProbe
import HoldfastPublishing
import HoldfastTUF

/// The documents that clients hold: published ones of each kind, each with the configuration of its clients.
struct PublishedPinOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A pin file that a version of the app carries: a file, an https URL, which is fetched through the same proxy, "
                + "or - for standard input. Of this and of the next four several may be given, for what clients hold at "
                + "the same time: all must get in.",
            valueName: "file | url"),
        completion: .file())
    var pins: [String] = []

    @Option(
        help: ArgumentHelp(
            "A signed list that CertStore clients download, with --public-key: a file or an https URL.",
            valueName: "file"),
        completion: .file())
    var list: [String] = []

    @Option(
        name: .customLong("challenged-list"),
        help: ArgumentHelp(
            "The https URL that CertStore clients ask with challenges, with --public-key; it is asked with one. Or the "
                + "signed list in a file whose entries the server sends.", valueName: "url | file"),
        completion: .file())
    var challengedList: [String] = []

    @Option(
        help: ArgumentHelp(
            "A repository, with --app-root: the https URL of its folder public, or the folder itself, which also has the "
                + "pins from before.", valueName: "url | folder"))
    var repository: [String] = []

    @Option(
        name: .customLong("trust-server"),
        help: ArgumentHelp("A trust server's document, with --signer.", valueName: "file | url"),
        completion: .file())
    var trustServer: [String] = []

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

    /// The options that name a document, for messages.
    static let sources = "--pins, --list, --challenged-list, --repository or --trust-server"

    var isEmpty: Bool { count == 0 }

    /// The number of named documents. Apps with other roots get the same repository, but may not follow it equally far.
    var count: Int { names.count + max(0, appRoot.count - repository.count) }

    /// The documents as the arguments name them.
    var names: [String] { pins + list + challengedList + repository + trustServer }

    func validate() throws {
        try key?.validate("--public-key")
        guard repository.count == appRoot.count || repository.count == 1 && !appRoot.isEmpty else {
            throw ValidationError("--repository goes with --app-root.")
        }
        // Reading the folder detects whether it exists.
        for repository in repository where repository.contains("://") {
            try RepositoryOrigin.validate(repository, "--repository")
        }
        for (name, documents) in [
            ("--pins", pins), ("--list", list), ("--challenged-list", challengedList), ("--trust-server", trustServer),
        ] {
            for document in documents { try InputDocument.validate(document, name) }
        }
        guard (key == nil) == (list.isEmpty && challengedList.isEmpty) else {
            throw ValidationError("--list and --challenged-list go with --public-key.")
        }
        guard (signer == nil) == trustServer.isEmpty else {
            throw ValidationError("--trust-server goes with --signer.")
        }
        guard customer == nil || signer != nil else { throw ValidationError("--customer goes with --trust-server.") }
    }

    /// Reads all of them.
    func read(
        at time: Date, connection: ConnectionOptions, anchors: () async throws(CommandFailure) -> TrustAnchors
    ) async throws(CommandFailure) -> [PublishedPins] {
        var versions: [PublishedPins] = []
        for (position, file) in appRoot.enumerated() {
            let url = repository[repository.count == 1 ? 0 : position]
            let root = try AppRoot.content(of: file)
            if RepositoryHistory.isFolder(url) {
                versions.append(try await RepositoryHistory(url).pins(root: root, at: time))
                continue
            }
            let origin = try await RepositoryOrigin(
                url, timeout: connection.timeout, through: connection.proxies, anchors: anchors)
            versions.append(try await origin.pins(root: root, at: time))
        }
        for (kind, documents) in [(Kind.pins, pins), (.list, list), (.trustServer, trustServer)] {
            for document in documents {
                let source = try InputDocument(document)
                let data = try await source.content(
                    maximumBytes: Self.maximumBytes, timeout: connection.timeout,
                    through: connection.proxies, anchors: anchors)
                versions.append(try version(of: data, kind, named: source.name, at: time))
            }
        }
        for document in challengedList {
            let source = try InputDocument(document)
            let answer = try await source.answer(
                maximumBytes: Self.maximumBytes, timeout: connection.timeout,
                through: connection.proxies, anchors: anchors)
            versions.append(
                try version(of: answer.body, .challengedList(answer.exchange), named: source.name, at: time))
        }
        return versions
    }

    /// One byte more than a document may have, so that its reader reports the error.
    private static let maximumBytes = DocumentLimits().bytes + 1

    /// The root of the apps; nil if no root or several roots are given.
    func onlyRoot() throws(CommandFailure) -> Data? {
        guard let file = appRoot.first, appRoot.count == 1 else { return nil }
        return try AppRoot.content(of: file)
    }

    /// The documents that clients may still hold of the repositories whose folders are named.
    /// - Returns: the documents; nil if an option names a downloaded document, whose history is unknown.
    func history(staleness: Duration, at time: Date) async throws(CommandFailure) -> EarlierDocuments? {
        guard list.isEmpty, challengedList.isEmpty, trustServer.isEmpty, !repository.isEmpty,
            repository.allSatisfy(RepositoryHistory.isFolder)
        else { return nil }
        var earlier = EarlierDocuments()
        for (position, file) in appRoot.enumerated() {
            let folder = repository[repository.count == 1 ? 0 : position]
            let root = try AppRoot.content(of: file)
            earlier.add(try await RepositoryHistory(folder).earlier(provedFrom: root, staleness: staleness, at: time))
        }
        return earlier
    }

    /// Reads a replaced document, for each kind of client that is configured like these options.
    /// - Parameter data: a bundle of a repository too, which clients hold longer than its timestamp lasts.
    func earlier(
        _ data: Data, named name: String, at time: Date
    ) throws(CommandFailure) -> [PublicationOutlook.Document] {
        let kind = DocumentKind(data)
        guard kind == .bundle else {
            let kinds: [Kind] =
                switch kind {
                case .signedList:
                    (list.isEmpty ? [] : [.list]) + (challengedList.isEmpty ? [] : [.challengedList(nil)])
                case .trustServerDocument: trustServer.isEmpty ? [] : [.trustServer]
                default: [.pins]
                }
            guard !kinds.isEmpty else {
                throw CommandFailure(
                    .wrongUsage, "--replaced: \(name) is a \(kind.description), and what took its place is not named")
            }
            var documents: [PublicationOutlook.Document] = []
            for kind in kinds { documents.append(try version(of: data, kind, named: name, at: time).document) }
            return documents
        }
        guard !appRoot.isEmpty else {
            throw CommandFailure(
                .wrongUsage, "--replaced: \(name) is a \(kind.description), and what took its place is not named")
        }
        var documents: [PublicationOutlook.Document] = []
        for file in appRoot {
            let root = try AppRoot.content(of: file)
            documents.append(.init(name, kind: .repository(root: root), octets: data, published: time))
        }
        return documents
    }

    /// Reads the signer's certificate by itself, so that another file is not taken for a damaged document.
    private static func certificate(of path: String) throws(CommandFailure) -> Data {
        let data = try KeyFile.content(of: path)
        do throws(DocumentError) {
            try SignerFile.check(data)
            return data
        } catch {
            throw CommandFailure(
                .unreadableFile,
                "--signer \(path): expected \(error.expected), found \(error.found). Give CUSTOMER.crt of the folder in "
                    + "which the trust server publishes.")
        }
    }

    /// The kind of document, which determines its clients.
    private enum Kind {
        case pins, list, trustServer
        /// The request to a server with its response; nil for the list whose entries it sends.
        case challengedList(ChallengeExchange?)
    }

    /// Reads a document as clients do that are configured like these options. A pin file without another name is
    /// carried by a version of the app.
    private func version(
        of data: Data, _ kind: Kind, named name: String, at time: Date
    ) throws(CommandFailure) -> PublishedPins {
        let key = try key?.get()
        let certificate: Data? = if let signer { try Self.certificate(of: signer) } else { nil }
        return try CommandFailure.rethrowing { () throws(PublishingError) in
            switch (kind, key, certificate) {
            case (.list, let key?, _): try PublishedPins(list: data, named: name, key: key, at: time)
            case (.challengedList(let exchange), let key?, _):
                try PublishedPins(challengedList: data, after: exchange, named: name, key: key, at: time)
            case (.trustServer, _, let certificate?):
                try PublishedPins(
                    trustServerDocument: data, named: name, signer: certificate, customer: customer, at: time)
            default:
                try PublishedPins(
                    pinFile: data, named: name, carriedBy: [name],
                    remedies: [
                        .signedList: "Give it with --list, and the signer's public key with --public-key.",
                        .challengeAnswer: "Give the URL that clients ask with --challenged-list.",
                        .trustServerDocument:
                            "Give it with --trust-server, and its signer's certificate with --signer.",
                    ], at: time)
            }
        }
    }
}
