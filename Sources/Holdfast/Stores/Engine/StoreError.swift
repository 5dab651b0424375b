/// Why a store cannot be made, or an update did not bring usable pins.
public struct StoreError: HoldfastError {
    /// The closed set of reasons.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The configuration contradicts itself, or its key or fallback data cannot be read.
        case invalidConfiguration
        /// The document could not be downloaded.
        case networkError
        /// Download and verification together took longer than an update may.
        case timedOut
        /// The document is not what it should be, or may not replace the one that is stored.
        case invalidData
        /// A signature does not verify.
        case invalidSignature
        /// The document was downloaded and verified, but every entry in it has expired.
        case storeIsEmpty
        /// What is stored is damaged or can no longer be verified, and counts as nothing.
        case damagedStorage
        /// The document counts, but could not be stored.
        case notStored
        /// The store was reset while the update was under way.
        case reset
    }

    /// The reason.
    public let code: Code
    /// What would have been right, what was there instead, and what to do.
    public let facts: ErrorFacts
    /// The error that led to this one: a ``DocumentError``, a ``RemoteDataError``, or a provider's own.
    public let underlying: (any Error)?

    package init(
        _ code: Code, expected: String, found: String, remedy: String? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy ?? code.usualRemedy)
        self.underlying = underlying
    }

    init(_ error: DocumentError) {
        self.init(
            error.code == .invalidSignature ? .invalidSignature : .invalidData, expected: error.expected,
            found: [error.entry.map { "entry \($0)" }, error.field.map { "field \($0.quoted)" }, error.found]
                .compactMap(\.self).joined(separator: ", "),
            remedy: error.remedy, underlying: error)
    }

    package init(network error: any Error) {
        let known = error as? RemoteDataError
        self.init(
            .networkError, expected: known?.expected ?? "a document",
            found: known?.found ?? ForeignErrorText.found(error),
            remedy: known?.remedy, underlying: error)
    }
}

extension StoreError.Code {
    fileprivate var usualRemedy: String {
        switch self {
        case .invalidConfiguration: "Mend the configuration; the store answers that it is empty until then."
        case .networkError: "Check the network and the URL, and try again."
        case .timedOut: "Try again later; if it goes on, check the server and the size of the document."
        case .invalidData, .invalidSignature: "Have the document made anew; the store keeps the one that it has."
        case .storeIsEmpty: "Publish entries that have not expired."
        case .damagedStorage: "Update the store; if it happens again, check the storage."
        case .notStored: "Check the storage; the document is used, but will be gone after a restart."
        case .reset: "Update again."
        }
    }
}
