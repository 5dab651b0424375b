package import Holdfast

/// The reason why a client has no pins, or was refused.
package struct ClientFailure: Error, Sendable, Hashable {
    /// Whether the client refused the document. If not, its result is unknown, because it could not evaluate anything.
    package let isRefusal: Bool
    /// The reason, without the name of the client.
    package let words: String

    package init(isRefusal: Bool, _ words: String) {
        self.isRefusal = isRefusal
        self.words = words
    }

    /// The failure of a store's update. A document that did not arrive was not refused.
    package init(_ error: StoreError) {
        isRefusal = error.code != .networkError && error.code != .timedOut
        words = "\(error.code.rawValue): expected \(error.expected), found \(error.found)"
    }

    /// The failure of an invalid build or document.
    package init(refusing error: any Error) {
        let known = error as? any HoldfastError
        isRefusal = true
        words = known.map { "expected \($0.expected), found \($0.found)" } ?? "it cannot be read"
    }
}
