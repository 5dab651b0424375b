import ArgumentParser
import Foundation
import Holdfast
import HoldfastProbe
import HoldfastPublishing

/// A document that an argument names: a file, a URL, or standard input as `-`.
struct InputDocument: Sendable {
    /// The name for messages: the argument without any part that may be secret.
    let name: String
    private let url: URL?

    init(_ text: String) throws(CommandFailure) {
        guard text.contains("://") else {
            name = text
            url = nil
            return
        }
        guard let url = URL(string: text), let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            parts.user == nil, parts.password == nil, (try? DialedHost(url: url)) != nil
        else {
            throw CommandFailure(
                .wrongUsage, "expected a file, - or an https URL of a document without user name and password")
        }
        // The query may be a secret token.
        name = String(text.prefix { $0 != "?" && $0 != "#" })
        self.url = url
    }

    /// - Parameter argument: the argument's name for messages.
    static func validate(_ text: String, _ argument: String) throws(ValidationError) {
        do throws(CommandFailure) {
            _ = try InputDocument(text)
        } catch {
            throw ValidationError("\(argument): \(error.message)")
        }
    }

    /// Reads the file, or downloads the URL from a server, which must be trusted.
    /// - Parameters:
    ///   - maximumBytes: the maximum number of bytes.
    ///   - timeout: how many seconds a download may take.
    ///   - proxies: the proxies for downloads.
    ///   - anchors: the trusted authorities; only a download needs them.
    func content(
        maximumBytes: Int, timeout: Int, through proxies: () throws(CommandFailure) -> ProxySettings,
        anchors: () async throws(CommandFailure) -> TrustAnchors
    ) async throws(CommandFailure) -> Data {
        guard let url else { return try InputFile.content(of: name, maximumBytes: maximumBytes) }
        let downloader = DocumentDownloader(
            trusting: try await anchors(), within: .seconds(timeout), through: try proxies())
        return try await download { try await downloader.document(at: url, maximumBytes: maximumBytes) }
    }

    /// A server's response to clients with challenges, or the file with the list whose entries it sends.
    func answer(
        maximumBytes: Int, timeout: Int, through proxies: () throws(CommandFailure) -> ProxySettings,
        anchors: () async throws(CommandFailure) -> TrustAnchors
    ) async throws(CommandFailure) -> (body: Data, exchange: ChallengeExchange?) {
        guard let url else { return (try InputFile.content(of: name, maximumBytes: maximumBytes), nil) }
        // The response is signed, so a server on this machine needs no certificate.
        let downloader = DocumentDownloader(
            trusting: try await anchors(), within: .seconds(timeout), through: try proxies(),
            allowsPlainHTTPToLoopback: true)
        var generator = SystemRandomNumberGenerator()
        let challenge = ChallengeExchange.newChallenge(using: &generator)
        let (body, signature) = try await download {
            try await downloader.response(at: url, to: challenge, maximumBytes: maximumBytes)
        }
        return (body, ChallengeExchange(challenge: challenge, signature: signature))
    }

    private func download<Value>(
        _ run: () async throws -> Value
    ) async throws(CommandFailure) -> Value {
        do {
            return try await run()
        } catch let error as RemoteDataError {
            throw CommandFailure(.downloadFailed, "\(name) cannot be downloaded: \(error)")
        } catch {
            throw CommandFailure(.downloadFailed, "\(name) cannot be downloaded")
        }
    }
}
