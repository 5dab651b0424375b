import ArgumentParser
import Foundation
import Holdfast
import HoldfastProbe
import HoldfastPublishing
import HoldfastSigning
import HoldfastTUF

/// The documents that clients may hold, as `gate` reads them.
struct GateDocumentOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A pin file that a version of the app carries: a file, an https URL, or - for standard input. Repeatable, "
                + "one for each version that is still in use.", valueName: "file | url"), completion: .file())
    var pins: [String] = []

    @Flag(name: .customLong("no-shipped-pins"), help: "No version of the app that is still in use carries pins.")
    var noShippedPins = false

    @Option(
        help: ArgumentHelp("The signed list that is published, with --key.", valueName: "file | url"),
        completion: .file())
    var list: String?

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Of --list: " + PublicKeyArgument.help, valueName: "public"),
        completion: .file(), transform: { text in CheckedArgument { try PublicKeyArgument.key(text) } })
    var key: CheckedArgument<DocumentPublicKey>?

    @Option(
        help: ArgumentHelp(
            "The repository that apps follow, with --app-root: the https URL of its folder public.", valueName: "url"))
    var repository: String?

    @Option(
        name: .customLong("app-root"),
        help: ArgumentHelp(
            "Of --repository: the root that a version of the app shipped with. Repeatable, one for each root in the "
                + "field.", valueName: "file"), completion: .file(extensions: ["json"]))
    var appRoot: [String] = []

    @Option(
        name: .customLong("trust-server"),
        help: ArgumentHelp("The document that a trust server serves, with --signer.", valueName: "file | url"),
        completion: .file())
    var trustServer: String?

    @Option(
        help: ArgumentHelp(
            "Of --trust-server: the certificate that clients are configured with.", valueName: "file"),
        completion: .file())
    var signer: String?

    @Option(
        help: ArgumentHelp(
            "A document that clients may still hold, since it was published before: of the kind of --list, "
                + "--trust-server or, as bundle.json, --repository. Repeatable.", valueName: "file | url"),
        completion: .file())
    var before: [String] = []

    @Flag(name: .customLong("first"), help: "Nothing was published before the document.")
    var isFirst = false

    @Option(
        name: .customLong("published"),
        help: ArgumentHelp(
            "When clients could first get the document: Unix seconds, or a date in UTC. By default when a pin file says "
                + "that it was issued, or when a file was last changed; of a URL it must be said.", valueName: "time"),
        transform: TimeArgument.seconds)
    var published: Int64?

    @Option(help: ArgumentHelp("How long a client may go on with an older document, such as 30d.", valueName: "time"))
    var staleness = TimeSpan(seconds: 30 * 86_400)

    func validate() throws {
        try key?.validate("--key")
        guard [list, repository, trustServer].compactMap(\.self).count <= 1 else {
            throw ValidationError("Give one of --list, --repository and --trust-server; run gate for each.")
        }
        guard !pins.isEmpty || list != nil || repository != nil || trustServer != nil else {
            throw ValidationError("Say which pins clients have: --pins, --list, --repository or --trust-server.")
        }
        guard pins.isEmpty || !noShippedPins else {
            throw ValidationError("--pins names what app versions carry, and --no-shipped-pins says that none does.")
        }
        guard (list == nil) == (key == nil) else { throw ValidationError("--list goes with --key.") }
        guard (repository == nil) == appRoot.isEmpty else {
            throw ValidationError("--repository goes with --app-root.")
        }
        guard (trustServer == nil) == (signer == nil) else {
            throw ValidationError("--trust-server goes with --signer.")
        }
        guard list ?? repository ?? trustServer != nil || before.isEmpty && !isFirst && published == nil else {
            throw ValidationError("--before, --first and --published go with --list, --repository or --trust-server.")
        }
        guard before.isEmpty || !isFirst else { throw ValidationError("Give --before or --first, not both.") }
        if let repository { try RepositoryOrigin.validate(repository, "--repository") }
        for document in pins + before + [list, trustServer].compactMap(\.self) {
            try InputDocument.validate(document, "documents")
        }
    }

    /// Reads every document anew.
    /// - Parameter time: when.
    func inputs(
        _ connection: ConnectionOptions, span: TimeSpan, at time: Date
    ) async throws(CommandFailure) -> PublicationOutlook.Inputs {
        let anchors = try await connection.anchors()
        let reader = Reader(connection: connection, anchors: anchors, time: time)
        var documents: [PublicationOutlook.Document] = []
        for name in pins {
            let data = try await reader.content(of: name)
            let name = try InputDocument(name).name
            let file = try PinFileReading.pinFile(data, named: name, remedies: [:])
            documents.append(
                .init(
                    name, kind: .shippedPins, octets: data, published: file.issuedAt ?? .distantPast,
                    appVersions: [name]))
        }
        if let list, let key = key?.value {
            documents += try await published(list, .staticList(publicKey: key.base64), reader)
        }
        if let trustServer, let signer {
            let certificate = try KeyFile.content(of: signer)
            let data = try await reader.content(of: trustServer)
            let customer: String
            do throws(DocumentError) {
                customer = try UnverifiedTrustServerDocument(data).customer
            } catch {
                throw CommandFailure(.invalidList, "\(trustServer) cannot be read: \(error)")
            }
            documents += try await published(
                trustServer, .trustServer(signer: certificate, customer: customer), reader, octets: data)
        }
        if let repository {
            let origin = try await RepositoryOrigin(
                repository, timeout: connection.timeout, through: connection.proxiesOfDownloads
            ) { () throws(CommandFailure) in anchors }
            guard let bundle = try await origin.bundle() else {
                throw CommandFailure(.downloadFailed, "\(repository) serves no bundle.json that could be judged")
            }
            for root in appRoot {
                let root = try InputFile.content(of: root, maximumBytes: TUFSettings().rootBytes)
                documents += try await published(repository, .repository(root: root), reader, octets: bundle)
            }
        }
        let versions: PublicationOutlook.AppVersions =
            noShippedPins
            ? .noShippedPins : pins.isEmpty ? .unknown : .versions(documents.flatMap(\.appVersions).map { .init($0) })
        let platform = PublicationOutlook.Platform(
            connection.ca.map { "clients that trust \($0)" } ?? "clients that trust what this machine trusts",
            anchors: anchors.certificates.map { Data($0.der) })
        return PublicationOutlook.Inputs(
            documents: documents, hosts: [], platforms: [platform], appVersions: versions,
            staleness: TimeInterval(staleness.seconds), span: TimeInterval(span.seconds), now: time)
    }

    /// The document that is published, after those that clients may still hold.
    private func published(
        _ argument: String, _ kind: PublicationOutlook.Document.Kind, _ reader: Reader, octets: Data? = nil
    ) async throws(CommandFailure) -> [PublicationOutlook.Document] {
        let data: Data
        if let octets { data = octets } else { data = try await reader.content(of: argument) }
        let since = try publishedTime(argument)
        var documents: [PublicationOutlook.Document] = []
        for earlier in before {
            let octets = try await reader.content(of: earlier)
            documents.append(
                .init(
                    try InputDocument(earlier).name, kind: kind, octets: octets, published: .distantPast,
                    replaced: since))
        }
        return documents + [
            .init(try InputDocument(argument).name, kind: kind, octets: data, published: since)
        ]
    }

    private func publishedTime(_ argument: String) throws(CommandFailure) -> Date {
        if let published { return Date(wholeSeconds: published) }
        let attributes = argument.contains("://") ? nil : try? FileManager.default.attributesOfItem(atPath: argument)
        guard let date = attributes?[.modificationDate] as? Date else {
            throw CommandFailure(
                .wrongUsage, "nobody knows when clients could first get \(argument): say it with --published")
        }
        return date
    }

    /// Reads what arguments name.
    private struct Reader {
        let connection: ConnectionOptions
        let anchors: TrustAnchors
        let time: Date

        func content(of argument: String) async throws(CommandFailure) -> Data {
            try await InputDocument(argument).content(
                maximumBytes: DocumentLimits().bytes + 1, timeout: connection.timeout,
                through: connection.proxiesOfDownloads
            ) { () throws(CommandFailure) in anchors }
        }
    }
}
