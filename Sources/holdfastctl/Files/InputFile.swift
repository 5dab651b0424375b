import Foundation
import Holdfast
import HoldfastPublishing

/// Reads the input that an argument names: a file, or standard input as `-`.
enum InputFile {
    /// The name for standard input or output instead of a file.
    static let standard = "-"

    /// The maximum number of bytes of standard input; more than any verb reads.
    private static let maximumBytes = 64 << 20

    /// The content of standard input. It is read only once, because several arguments may name it, for example a key
    /// and its certificate in one file.
    private static let standardInput = Lock<Data?>(nil)

    /// - Throws: if it cannot be read, or is too long.
    static func content(of path: String, maximumBytes: Int) throws(CommandFailure) -> Data {
        guard path != standard else {
            let data = try standardContent()
            guard data.count <= maximumBytes else {
                throw CommandFailure(.unreadableFile, "standard input has more than \(maximumBytes) bytes")
            }
            return data
        }
        do {
            return try AtomicFile.read(URL(fileURLWithPath: path), maximumBytes: maximumBytes)
        } catch CocoaError.fileReadTooLarge {
            throw CommandFailure(.unreadableFile, "\(path) has more than \(maximumBytes) bytes")
        } catch {
            throw CommandFailure(.unreadableFile, "\(path) cannot be read: \(AtomicFile.reason(error, at: path))")
        }
    }

    /// Reads everything that contains a public key from a file in PEM or DER.
    static func publicKeys(of path: String) throws(CommandFailure) -> PublicKeyFile.Content {
        let data = try content(of: path, maximumBytes: ChainFile.maximumBytes)
        return try CommandFailure.rethrowing { () throws(PublishingError) in
            try PublicKeyFile(data, path: path).read()
        }
    }

    /// Reads all certificates of a file, which must have at least one.
    static func chain(of path: String) throws(CommandFailure) -> ChainFile {
        let data = try content(of: path, maximumBytes: ChainFile.maximumBytes)
        return try CommandFailure.rethrowing { () throws(PublishingError) in try ChainFile(data, path: path) }
    }

    private static func standardContent() throws(CommandFailure) -> Data {
        if let data = standardInput.withLock({ $0 }) { return data }
        let data: Data
        do {
            let handle = FileHandle(fileDescriptor: STDIN_FILENO, closeOnDealloc: false)
            data = try handle.read(upToCount: maximumBytes + 1) ?? Data()
        } catch {
            throw CommandFailure(.unreadableFile, "standard input cannot be read")
        }
        standardInput.withLock { $0 = data }
        return data
    }
}
