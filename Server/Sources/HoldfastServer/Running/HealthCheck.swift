import Foundation
import Holdfast
import HostMonitoring
import PinPublication
import ServerHTTP

/// Queries the state of a running server on this machine. A container image has no other client.
package struct HealthCheck: Sendable {
    /// A question, by the end of its path below `/health/`.
    package enum Question: String, Sendable, Hashable, CaseIterable {
        /// Whether the process answers. If not, restart it.
        case live
        /// Whether documents can be served.
        case ready
        /// Whether changes can be made and challenges signed.
        case writable
    }

    /// The answer, in one line for people.
    package struct Answer: Sendable, Hashable {
        /// Whether the answer is yes.
        package let isGood: Bool
        /// The question and the result.
        package let text: String
    }

    private let way: SelfCheckListener.Way?

    /// Prepares a query to the server with these settings. A listener on all addresses is queried on loopback, and one
    /// with TLS must present the configured certificate.
    /// - Parameter settings: the settings that `serve` was started with.
    package init(_ settings: ServeSettings) {
        let listener = SelfCheckListener()
        let leaf = settings.listen.identity.map { identity in { @Sendable in identity.leaf } }
        listener.listens(on: settings.listen.host, port: settings.listen.port, showing: leaf)
        way = listener.way
    }

    /// Sends the query.
    /// - Parameter question: the question.
    package func answer(to question: Question) async -> Answer {
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
