/// The reason why a store cannot be made, or why an update did not bring usable pins.
public struct StoreError: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<StoreError>

    /// The reason.
    public let code: Code
    /// The expected and the found value, and the remedy.
    public let facts: ErrorFacts
    /// The error that led to this one: a ``DocumentError``, a ``RemoteDataError``, or a provider's own.
    public let underlying: (any Error)?

    package init(_ code: Code, expected: String, found: String, remedy: String? = nil, underlying: (any Error)? = nil) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy ?? code.remedy)
        self.underlying = underlying
    }

    init(_ error: DocumentError) {
        let code: Code =
            switch error.code {
            case .invalidSignature: .invalidSignature
            case .expiredEntries: .storeIsEmpty
            case .unsupportedAlgorithm: .unsupportedAlgorithm
            default: .invalidData
            }
        self.init(
            code, expected: error.expected,
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
    /// The configuration contradicts itself, or its key or fallback data cannot be read.
    public static var invalidConfiguration: Self {
        Self("Mend the configuration; the store answers that it is empty until then.")
    }
    /// The document could not be downloaded.
    public static var networkError: Self { Self("Check the network and the URL, and try again.") }
    /// Download and verification together took longer than the limit of an update.
    public static var timedOut: Self {
        Self("Try again later; if it goes on, check the server and the size of the document.")
    }
    /// The document is invalid, or may not replace the one that is stored.
    public static var invalidData: Self { Self("Have the document made anew; the store keeps the one that it has.") }
    /// A signature does not verify.
    public static var invalidSignature: Self {
        Self("Have the document made anew; the store keeps the one that it has.")
    }
    /// The document was not verified, because Holdfast does not support its algorithm or its signer's kind of key.
    public static var unsupportedAlgorithm: Self {
        Self("Have the document signed with a supported algorithm; the store keeps the one that it has.")
    }
    /// The document was downloaded and verified, but every entry in it has expired. If the store has other valid
    /// entries, such as fallback entries, it keeps them.
    public static var storeIsEmpty: Self { Self("Publish entries that have not expired.") }
    /// The stored document is damaged or can no longer be verified, and is ignored.
    public static var damagedStorage: Self { Self("Update the store; if it happens again, check the storage.") }
    /// The document is valid and in use, but could not be stored.
    public static var notStored: Self {
        Self("Check the storage; the document is used, but will be gone after a restart.")
    }
    /// The store was reset while the update was under way.
    public static var reset: Self { Self("Update again.") }
}
