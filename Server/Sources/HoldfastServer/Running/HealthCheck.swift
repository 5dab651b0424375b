import Foundation
import Holdfast

/// Asks the public listener of a running server on this machine how it is. An image of a container has no other client.
public struct HealthCheck: Sendable {
    /// A question, by the end of its path below `/health/`.
    public enum Question: String, Sendable, Hashable, CaseIterable {
        /// Whether the process answers. If not, restart it.
        case live
        /// Whether documents can be served.
        case ready
        /// Whether changes can be made and challenges signed.
        case writable
    }

    /// The answer, in one line for people.
    public struct Answer: Sendable, Hashable {
        /// Whether the answer is yes.
        public let isGood: Bool
        /// What was asked, and what was found.
        public let text: String
    }

    private let way: SelfCheckListener.Way?

    /// Prepares to ask the server that has these settings. A listener at all addresses is asked on loopback, and one that
    /// speaks TLS must present the configured certificate.
    /// - Parameter settings: the settings that `serve` was started with.
    public init(_ settings: ServeSettings) {
        let listener = SelfCheckListener()
        let leaf = settings.listen.identity.map { identity in { @Sendable in identity.leaf } }
        listener.listens(on: settings.listen.host, port: settings.listen.port, showing: leaf)
        way = listener.way
    }

    /// Asks.
    /// - Parameter question: the question.
    public func answer(to question: Question) async -> Answer {
        guard let way else {
            return Answer(
                isGood: false,
                text: "not \(question): the address of the listener means something on one interface only")
        }
        let url = way.url.appending(path: "health").appending(path: question.rawValue)
        do {
            _ = try await (way.reader ?? OwnAddressProvider()).data(
                for: RemoteDataRequest(url: url, maximumBytes: 1_024))
            return Answer(isGood: true, text: "\(question): \(url.absoluteString) answers 200")
        } catch let error as RemoteDataError where error.status != nil {
            return Answer(isGood: false, text: "not \(question): \(url.absoluteString) answers \(error.status ?? 0)")
        } catch {
            return Answer(isGood: false, text: "not \(question): no server answers at \(url.absoluteString)")
        }
    }
}
