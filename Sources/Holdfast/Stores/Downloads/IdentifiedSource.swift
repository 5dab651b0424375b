import Foundation

/// A source, storage or clock that knows which other values are the same as it: stores that are made from the same ones
/// are one; see ``TrustServerStore/shared(url:signer:customer:settings:clock:logger:)``.
package protocol IdentifiedSource: Sendable {
    /// Equal texts for what is the same.
    var sourceIdentity: String { get }
}

extension URLSessionDataProvider: IdentifiedSource {
    package var sourceIdentity: String { "\(answerLimit) \(wholeLimit) \(allowsPlainHTTPToLoopback)" }
}

extension FileDataStore: IdentifiedSource {
    package var sourceIdentity: String { "\(maximumBytes) \(folder.absoluteString)" }
}

extension SystemWallClock: IdentifiedSource {
    package var sourceIdentity: String { "" }
}
