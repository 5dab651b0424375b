public import Foundation

/// A file of a repository.
public struct RepositoryFile: Sendable, Hashable {
    /// Which of the two base URLs it is relative to.
    public enum Kind: Sendable, Hashable {
        /// Metadata.
        case metadata
        /// A target.
        case target
    }

    /// Which of the two base URLs it is relative to.
    public let kind: Kind
    /// The path relative to that base, percent-encoded.
    public let path: String
}

/// Provides the files of a repository. It need not be trusted: everything it returns is verified.
public protocol RepositorySource: Sendable {
    /// A file; nil if the server does not have it (HTTP status 404 or 403).
    /// - Parameters:
    ///   - file: the file.
    ///   - limit: the maximum number of bytes; if more arrive, the source throws an error.
    /// - Throws: any error if the source could not find out whether the server has the file.
    func data(of file: RepositoryFile, atMost limit: Int) async throws -> Data?
}
