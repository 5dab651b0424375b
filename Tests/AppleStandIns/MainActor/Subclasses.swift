import Foundation
import FoundationNetworking
import Holdfast
import HoldfastCompatibility
import Security

// Subclasses in an app whose default isolation is the main actor: scripts/check apple compiles them.

final class EmptyDelegate: PinnedSessionDelegate, @unchecked Sendable {}

final class EmptyISPDelegate: ISPPinnedNSURLSessionDelegate, @unchecked Sendable {}

final class LoggingDelegate: PinnedSessionDelegate, @unchecked Sendable {
    private let log: @Sendable (String) -> Void

    init(manager: TrustManager, log: @escaping @Sendable (String) -> Void) {
        self.log = log
        super.init(manager: manager)
    }

    override func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        log(challenge.protectionSpace.host)
        super.urlSession(session, didReceive: challenge, completionHandler: completionHandler)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        log("completed")
    }
}

/// A model of the app, on the main actor, that holds one.
final class Model {
    private let delegate: LoggingDelegate
    private(set) var status = ""

    init(manager: TrustManager) {
        delegate = LoggingDelegate(manager: manager) { _ in }
    }

    func load(_ url: URL, in session: URLSession) async {
        do {
            _ = try await session.data(from: url)
            status = "loaded"
        } catch {
            status = delegate.failure(forHost: url.host() ?? "")?.description ?? "failed"
        }
    }
}
