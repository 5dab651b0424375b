import ArgumentParser
import Foundation
import Holdfast
import HoldfastProbe
import HoldfastPublishing
import HoldfastTUF

/// A repository as apps find it: the URL under which its folder `public` is served. Security does not depend on the
/// transport, because everything is verified from the app's root on.
struct RepositoryOrigin: Sendable {
    /// The repository's name for messages.
    let name: String
    private let base: URL
    private let provider: NotingDownloader

    /// The largest bundle that the command reads, in bytes. Apps accept less by default.
    private static let maximumBundle = 64 << 20

    /// - Parameters:
    ///   - text: the URL.
    ///   - timeout: how many seconds each file may take.
    init(
        _ text: String, timeout: Int, through proxies: () throws(CommandFailure) -> ProxySettings,
        anchors: () async throws(CommandFailure) -> TrustAnchors
    ) async throws(CommandFailure) {
        guard let url = Self.url(text) else {
            throw CommandFailure(
                .wrongUsage,
                "\(Self.expectation), or a folder that is there, found \(text.quoted). Name the folder of the repository, or "
                    + "give a URL such as https://pins.example.com.")
        }
        name = text
        base = url
        // Plain HTTP needs no anchors, and some machines have none.
        let needsAnchors = url.scheme?.lowercased() == "https"
        let trusted = needsAnchors ? try await anchors() : TrustAnchors([])
        provider = NotingDownloader(
            Self.downloader(trusting: trusted, within: .seconds(timeout), through: try proxies()))
    }

    private static let expectation = "expected the https URL of a folder, without user name, password and query"

    static func validate(_ text: String, _ argument: String) throws(ValidationError) {
        guard url(text) != nil else {
            throw ValidationError(
                "\(argument): \(expectation), found \(text.quoted). "
                    + "Give a URL such as https://pins.example.com; http is only for this machine.")
        }
    }

    /// Whether a text is a URL from which files are downloaded.
    static func isURL(_ text: String) -> Bool { url(text) != nil }

    /// Reads the URL; nil for one that the provider would refuse: http is only for loopback addresses.
    private static func url(_ text: String) -> URL? {
        guard let url = URL(string: text.hasSuffix("/") ? text : text + "/"),
            let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            (try? DownloadRules(allowsPlainHTTPToLoopback: true).check(url)) != nil, !(parts.host ?? "").isEmpty,
            parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil
        else { return nil }
        return url
    }

    /// Downloads files that are verified in any case, so that a server on this machine needs no certificate.
    static func downloader(
        trusting anchors: TrustAnchors, within limit: Duration, through proxies: ProxySettings
    ) -> DocumentDownloader {
        DocumentDownloader(trusting: anchors, within: limit, through: proxies, allowsPlainHTTPToLoopback: true)
    }

    /// The source for clients that fetch file by file.
    var source: HTTPRepositorySource {
        HTTPRepositorySource(
            metadata: base.appending(path: "metadata/"), targets: base.appending(path: "targets/"),
            provider: provider)
    }

    /// Lets a client with a root update from the files.
    /// - Throws: if the request for a file failed.
    func following(root: Data, at time: Date) async throws(CommandFailure) -> TUFFollowing {
        let following: TUFFollowing
        do throws(TUFError) {
            following = try await TUFFollowing(source, root: root, at: time)
        } catch {
            throw RepositoryOrigin.noRoot(error)
        }
        guard following.problem?.code == .unavailable, let failure = provider.failure else { return following }
        throw CommandFailure(.downloadFailed, "\(name) cannot be asked: \(failure)")
    }

    static func noRoot(_ error: TUFError) -> CommandFailure {
        CommandFailure(
            .unreadableFile,
            "--app-root is not a root that a client can start from: expected \(error.expected), found \(error.found). "
                + "Give the root.json that the app was built with.")
    }

    /// Downloads the bundle; nil if none is served.
    func bundle() async throws(CommandFailure) -> Data? {
        do {
            return try await provider.json(at: base.appending(path: "bundle.json"), maximumBytes: Self.maximumBundle)
        } catch let error as RemoteDataError {
            throw CommandFailure(.downloadFailed, "\(name) cannot be asked for bundle.json: \(error)")
        } catch {
            throw CommandFailure(.downloadFailed, "\(name) cannot be asked for bundle.json")
        }
    }

    /// The pins of an app that was built with a root: from the bundle, or file by file if there is no bundle.
    /// - Throws: if such an app cannot follow.
    func pins(root: Data, at time: Date) async throws(CommandFailure) -> PublishedPins {
        let served = try await bundle()
        let following = RepositoryFollowing(
            try await following(root: root, at: time), bundle: served, root: root, at: time)
        guard following.pins != nil else {
            let remedy =
                if let expired = following.expired {
                    "Where the repository's folder is: \(expired.renewal(of: "FOLDER"))"
                } else if following.isOfOtherKeys {
                    "Give with --app-root the root.json that the app was built with; the first one of this repository is "
                        + "metadata/1.root.json."
                } else {
                    "Check that the URL is that of the folder public, and upload that folder again."
                }
            throw CommandFailure(.invalidList, "\(following.verdict(at: name)). \(remedy)")
        }
        let bundle: Data
        if let served {
            bundle = served
        } else {
            do throws(TUFError) {
                bundle = try await TUFFollowedPins.bundle(of: source, root: root, at: time)
            } catch {
                throw CommandFailure(.invalidList, following.verdict(at: name))
            }
        }
        return try CommandFailure.rethrowing { () throws(PublishingError) in
            try PublishedPins(bundle: bundle, root: root, named: "the repository \(name)", at: time)
        }
    }

    /// The files that the server refused with status 403. They are treated as absent, because object stores send this
    /// status for missing files; but so do servers with wrong permissions.
    var forbidden: [String] { provider.forbidden }
}
