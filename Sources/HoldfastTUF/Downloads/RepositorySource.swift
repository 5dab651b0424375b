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

/// Where the files of a repository come from. Nothing rests on it: whatever it says is verified.
public protocol RepositorySource: Sendable {
    /// A file; nil where the server has none (HTTP status 404 or 403).
    /// - Parameters:
    ///   - file: which one.
    ///   - limit: the most bytes that are taken; the source ends with an error when more arrive.
    /// - Throws: any error where it could not be found out.
    func data(of file: RepositoryFile, atMost limit: Int) async throws -> Data?
}
