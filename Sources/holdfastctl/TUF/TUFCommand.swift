import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastTUF

/// `holdfastctl tuf`
struct TUFCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tuf",
        abstract: "A client of The Update Framework: refresh trusted metadata, download targets.",
        usage: """
            holdfastctl tuf --metadata-dir <folder> [<options>] init <root>
            holdfastctl tuf --metadata-dir <folder> [<options>] refresh | download
            """,
        discussion: """
            The command-line protocol of the public tuf-conformance suite. Every download is verified against the root \
            that was given to init, whatever the transport, so http is allowed for the loopback addresses.

            EXAMPLES
              holdfastctl tuf --metadata-dir trusted init root.json
              holdfastctl tuf --metadata-dir trusted \\
                --metadata-url https://tuf.example.com/metadata refresh
              holdfastctl tuf --metadata-dir trusted \\
                --metadata-url https://tuf.example.com/metadata \\
                --target-name pins.json --target-dir downloads \\
                --target-base-url https://tuf.example.com/targets download

            Exit codes: 0 success, 1 anything else, as the suite requires.

            With --json one object is printed on success: verb, targets (name, file).
            """,
        // For the conformance suite alone.
        shouldDisplay: false)

    enum Verb: String, ExpressibleByArgument, CaseIterable {
        case `init`, refresh, download
    }

    @Option(
        name: .customLong("metadata-url"),
        help: ArgumentHelp("The URL of the folder with the repository's metadata.", valueName: "url"))
    var metadataURL: String?

    @Option(
        help: ArgumentHelp("The folder in which trusted metadata is kept.", valueName: "folder"),
        completion: .directory)
    var metadataDir: String

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A target to download; may be given several times.", valueName: "name"))
    var targetName: [String] = []

    @Option(
        help: ArgumentHelp("The folder into which targets are downloaded.", valueName: "folder"),
        completion: .directory)
    var targetDir: String?

    @Option(
        name: .customLong("target-base-url"),
        help: ArgumentHelp("The URL of the folder with the repository's targets.", valueName: "url"))
    var targetBaseURL: String?

    @OptionGroup
    var printing: PrintOptions

    @Argument(help: ArgumentHelp("init, refresh or download.", valueName: "verb"))
    var verb: Verb

    @Argument(help: ArgumentHelp("The trusted root metadata, for init.", valueName: "root"), completion: .file())
    var root: String?

    func validate() throws {
        // A script's variable that is not set would name the current folder.
        guard !metadataDir.isEmpty, targetDir?.isEmpty != true else {
            throw ValidationError("--metadata-dir and --target-dir name folders.")
        }
        switch verb {
        case .`init`:
            guard root != nil else { throw ValidationError("init needs the file of the trusted root.") }
        case .refresh, .download:
            guard root == nil else { throw ValidationError("Only init takes a file.") }
            guard metadataURL != nil else { throw ValidationError("\(verb.rawValue) needs --metadata-url.") }
            guard verb == .refresh || !targetName.isEmpty && targetDir != nil && targetBaseURL != nil else {
                throw ValidationError("download needs --target-name, --target-dir and --target-base-url.")
            }
        }
    }

    /// The result. Its fields are those of the JSON object.
    private struct Report: Encodable {
        struct Target: Encodable {
            let name: String
            let file: String
        }

        let verb: String
        var targets: [Target]?
    }

    func run() async throws {
        do {
            for folder in [metadataDir, targetDir ?? metadataDir]
            where FileManager.default.fileExists(atPath: folder) && !KeyFile.isFolder(folder) {
                throw CommandFailure(
                    .unwritableFile, "\(folder): expected a folder, found a file. Name another folder.")
            }
            var report = Report(verb: verb.rawValue)
            switch verb {
            case .`init`: try initialize()
            case .refresh: _ = try await client().refresh()
            case .download: report.targets = try await download()
            }
            try printing.print(report) { output in
                for target in report.targets ?? [] { output.line("\(target.name): \(target.file)") }
            }
        } catch let failure as CommandFailure {
            Output.standard.complain(failure.message)
            throw NegativeAnswer()
        } catch let error as TUFError {
            Output.standard.complain(message(error))
            throw NegativeAnswer()
        } catch {
            Output.standard.complain(ForeignErrorText.whole(error))
            throw NegativeAnswer()
        }
    }

    /// The error, with the remedy of a person at a shell where the library's is for the code of an app.
    private func message(_ error: TUFError) -> String {
        let begin = "`holdfastctl tuf --metadata-dir \(SafeText.shellWord(metadataDir)) init ROOT`"
        let remedy: String
        switch error.code {
        case .noTrustedRoot:
            remedy = "Begin with the root that you trust: \(begin)"
        case .malformed, .wrongType, .notSigned, .tooLarge, .duplicateSignature:
            guard error.section == Self.rootSection else { return "\(error)" }
            remedy =
                verb == .`init`
                ? "Give the root metadata of the repository, such as public/metadata/1.root.json in its folder."
                : "The root in \(metadataDir) is damaged. Begin again with the root that you trust: \(begin)"
        case .rolledBack:
            remedy =
                "Try again later. If it persists, a person must find out who serves old files; if the repository was restored "
                + "from a copy, where its folder is: `holdfastctl repository renew FOLDER --key ONLINE-KEY --above VERSION`, "
                + "with the expected version."
        default: return "\(error)"
        }
        return "\(error.description.dropLast(error.remedy.count))\(remedy)"
    }

    /// The section of the specification about the root from which a client starts.
    private static let rootSection = "5.2"

    private var store: MetadataFolder { MetadataFolder(URL(filePath: metadataDir)) }

    /// The protocol of this verb has only one exit code for failures, including wrong usage.
    static func status(_ status: Int32, of arguments: [String]) -> Int32 {
        arguments.first == configuration.commandName ? min(status, 1) : status
    }

    private func initialize() throws {
        let settings = TUFSettings.pythonTUF
        let octets: Data
        do {
            octets = try AtomicFile.read(URL(filePath: root ?? ""), maximumBytes: settings.rootBytes)
        } catch {
            throw CommandFailure(
                .unreadableFile,
                "\(root ?? ""): \(AtomicFile.reason(error, at: root ?? "")). Give the file of the root that you trust.")
        }
        try TUFClient(store: store, source: NoSource(), settings: settings).initialize(root: octets)
    }

    /// Downloads all targets in their order with one client, until one fails.
    private func download() async throws -> [Report.Target] {
        let update = try await client().refresh()
        let folder = URL(filePath: targetDir ?? "")
        var targets: [Report.Target] = []
        for name in targetName {
            let file = try await update.download(try await update.target(name), into: folder)
            targets.append(.init(name: name, file: file.path))
        }
        return targets
    }

    private func client() async throws -> TUFClient {
        let metadata = try Self.url(metadataURL, "--metadata-url")
        let targets = verb == .download ? try Self.url(targetBaseURL, "--target-base-url") : nil
        // Plain HTTP needs no anchors, and some machines have none.
        let needsAnchors = [metadata, targets].contains { $0?.scheme?.lowercased() == "https" }
        let anchors = needsAnchors ? try await TrustAnchors.system() : TrustAnchors([])
        let provider = RepositoryOrigin.downloader(
            trusting: anchors, within: Self.wholeLimit, through: try ConnectionOptions.proxiesOfEnvironment())
        return TUFClient(
            store: store, source: HTTPRepositorySource(metadata: metadata, targets: targets, provider: provider),
            settings: .pythonTUF)
    }

    /// The time for one download. A target may be large.
    private static let wholeLimit = Duration.seconds(600)

    private static func url(_ text: String?, _ option: String) throws(CommandFailure) -> URL {
        guard let text, RepositoryOrigin.isURL(text), let url = URL(string: text) else {
            throw CommandFailure(
                .wrongUsage,
                "\(option): expected the https URL of a folder, found \((text ?? "").quoted). Give a URL such as "
                    + "https://tuf.example.com/metadata; http is only for this machine.")
        }
        return url
    }
}

/// A source for init, which downloads nothing.
private struct NoSource: RepositorySource {
    func data(of file: RepositoryFile, atMost limit: Int) async throws -> Data? { nil }
}
