import Foundation
import ServerFoundation

/// Reads and writes files that are too large for memory.
enum StreamedFile {
    private static let part = 1 << 20

    /// Writes a new file under a temporary name, and renames it once it is completely on the disk.
    /// - Parameters:
    ///   - url: the file; it must not exist, except in part under the temporary name.
    ///   - body: gets the function that writes.
    /// - Throws: ``ServerError`` `file`; the file does not exist then.
    static func create(
        _ url: URL, _ body: (_ write: ([UInt8]) throws(ServerError) -> Void) throws(ServerError) -> Void
    ) throws(ServerError) {
        let temporary = url.deletingLastPathComponent().appending(path: ".\(url.lastPathComponent).new")
        func failure(_ found: String? = nil) -> ServerError {
            ServerError(
                .file, of: url.path, expected: "a new file that can be written", found: found ?? SystemText.of(errno),
                remedy: "Name a file that does not exist yet, in a folder that can be written.")
        }
        guard !FileManager.default.fileExists(atPath: url.path) else { throw failure("one that exists") }
        try WholeFile.remove(temporary)
        let descriptor = unsafe open(
            temporary.path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0o600 as mode_t)
        guard descriptor >= 0 else { throw failure() }
        do throws(ServerError) {
            defer { close(descriptor) }
            try body { bytes throws(ServerError) in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
                    guard count > 0 else { throw failure() }
                    rest = rest.dropFirst(count)
                }
            }
            guard fsync(descriptor) == 0 else { throw failure() }
        } catch {
            unsafe unlink(temporary.path)
            throw error
        }
        try WholeFile.move(temporary, to: url)
    }

    /// Reads a file from its beginning.
    /// - Parameter body: gets a function that reads the given number of bytes, or fewer at the end.
    /// - Throws: ``ServerError`` `file` if it cannot be read or is not a regular file.
    static func read<Value>(
        _ url: URL, _ body: (_ source: (Int) throws(ServerError) -> [UInt8]) throws(ServerError) -> Value
    ) throws(ServerError) -> Value {
        func failure(_ found: String? = nil) -> ServerError {
            ServerError(
                .file, of: url.path, expected: "a regular file that can be read", found: found ?? SystemText.of(errno))
        }
        let descriptor = unsafe open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure() }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw failure("something else")
        }
        return try body { count throws(ServerError) in
            var bytes = [UInt8](repeating: 0, count: max(0, count))
            var filled = 0
            while filled < bytes.count {
                let read = unsafe bytes[filled...].withUnsafeMutableBytes {
                    unsafe Foundation.read(descriptor, $0.baseAddress, $0.count)
                }
                guard read >= 0 else { throw failure() }
                guard read > 0 else { break }
                filled += read
            }
            return Array(bytes.prefix(filled))
        }
    }

    /// Passes all parts of a file to a closure.
    static func forEachPart(
        of url: URL, _ body: ([UInt8]) throws(ServerError) -> Void
    ) throws(ServerError) {
        try read(url) { source throws(ServerError) in
            while true {
                let bytes = try source(part)
                guard !bytes.isEmpty else { return }
                try body(bytes)
            }
        }
    }
}
