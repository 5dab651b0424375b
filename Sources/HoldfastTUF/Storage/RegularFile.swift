import Foundation

/// Reads files that somebody else may have put in place of the expected ones.
enum RegularFile {
    /// nil where there is none, where it is a folder, a pipe or a device, and where it has more bytes than the limit.
    static func read(_ url: URL, maximumBytes: Int) throws -> Data? {
        // Not blocking: opening a pipe would wait for a writer.
        let descriptor = unsafe open(url.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOENT || errno == ENOTDIR || errno == ELOOP else {
                throw CocoaError(errno == EACCES ? .fileReadNoPermission : .fileReadUnknown)
            }
            return nil
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        defer { try? handle.close() }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw CocoaError(.fileReadUnknown) }
        guard status.st_mode & S_IFMT == S_IFREG, Int64(status.st_size) <= Int64(maximumBytes) else { return nil }
        let data = try handle.read(upToCount: maximumBytes < .max ? maximumBytes + 1 : .max) ?? Data()
        return data.count <= maximumBytes ? data : nil
    }
}
