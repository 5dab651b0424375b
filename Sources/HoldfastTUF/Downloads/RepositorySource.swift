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

/// Where the files of a repository come from. It need not be trusted: whatever it returns is verified.
public protocol RepositorySource: Sendable {
    /// A file; nil if the server has none (HTTP status 404 or 403).
    /// - Parameters:
    ///   - file: which one.
    ///   - limit: the most bytes that are accepted; the source throws when more arrive.
    /// - Throws: any error if it could not be determined whether the server has the file.
    func data(of file: RepositoryFile, atMost limit: Int) async throws -> Data?
}
