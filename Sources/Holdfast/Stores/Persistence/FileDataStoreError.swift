/// The reason why a file of a data store cannot be read or replaced.
public struct FileDataStoreError: HoldfastError {
    /// The reasons, a set that may grow.
    public typealias Code = OpenCode<FileDataStoreError>

    /// The reason.
    public let code: Code
    /// The path of the file.
    public let path: String
    /// The expected and the found value, and the remedy.
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
        default: "Check that the folder of \(path) can be written by this user and has room."
        }
    }
}

extension FileDataStoreError.Code {
    /// The file exists but cannot be read.
    public static var unreadable: Self { Self() }
    /// The file is larger than the limit.
    public static var tooLarge: Self { Self() }
    /// The file, or its folder, cannot be written.
    public static var notWritten: Self { Self() }
}
