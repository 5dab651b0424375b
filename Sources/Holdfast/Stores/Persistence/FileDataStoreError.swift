/// Why a file of a data store cannot be read or replaced.
public struct FileDataStoreError: HoldfastError {
    /// The closed set of reasons.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The file is there and cannot be read.
        case unreadable
        /// The file is larger than the limit.
        case tooLarge
        /// The file, or the folder it is to be in, cannot be written.
        case notWritten
    }

    /// The reason.
    public let code: Code
    /// The path of the file.
    public let path: String
    /// What would have been right, what was there instead, and what to do.
    public let facts: ErrorFacts

    init(_ code: Code, path: String, expected: String, found: String) {
        self.code = code
        self.path = path
        facts = ErrorFacts(expected: expected, found: found, remedy: Self.remedy(for: code, at: path))
    }

    private static func remedy(for code: Code, at path: String) -> String {
        switch code {
        case .unreadable: "Check the permissions of \(path), or remove it: a store downloads its list again."
        case .tooLarge: "Remove \(path), or raise the limit."
        case .notWritten: "Check that the folder of \(path) can be written by this user and has room."
        }
    }
}
