import Holdfast

/// Why a client has no pins, or was not let in.
struct ClientFailure: Error, Sendable, Hashable {
    /// Whether it refused what it got. If not, nobody knows how it would fare: there was nothing to decide about.
    let isRefusal: Bool
    /// Why, without the name of the client.
    let words: String

    init(isRefusal: Bool, _ words: String) {
        self.isRefusal = isRefusal
        self.words = words
    }

    /// What a store says about an update. A document that did not arrive is no reason to refuse one.
    init(_ error: StoreError) {
        isRefusal = error.code != .networkError && error.code != .timedOut
        words = "\(error.code.rawValue): expected \(error.expected), found \(error.found)"
    }

    /// What is wrong with something that a client is made of, or that it reads.
    init(refusing error: any Error) {
        let known = error as? any HoldfastError
        isRefusal = true
        words = known.map { "expected \($0.expected), found \($0.found)" } ?? "it cannot be read"
    }
}
