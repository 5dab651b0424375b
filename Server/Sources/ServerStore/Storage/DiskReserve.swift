package import Foundation
import ServerFoundation

/// Disk space reserved next to the database, and freed once the disk is full: writes succeed again, and people have
/// time to make room. A running server reserves it again once twice as much is available.
package struct DiskReserve: Sendable {
    /// In bytes.
    package static let size = 64 << 20

    /// The file that takes the space.
    package let url: URL

    /// - Parameter folder: the folder of the database.
    package init(in folder: URL) { url = folder.appending(path: "reserve") }

    /// A file that marks a reserve that was freed or could not be made, so that commands see it as well.
    private var mark: URL { url.deletingLastPathComponent().appending(path: "reserve.missing") }

    /// Whether a reserve is expected but missing.
    package var isMissing: Bool { unsafe access(mark.path, F_OK) == 0 }

    /// A warning about a missing reserve, with the remedy; nil if all is well.
    package var warning: String? {
        guard isMissing else { return nil }
        return "no space is held back for a full disk: \(Self.size >> 20) MiB are given up once, and held back again "
            + "when there are \(Self.size >> 19) MiB; make room in \(url.deletingLastPathComponent().path)"
    }

    /// Reserves the space, if twice as much is available.
    /// - Returns: whether it is reserved now, and was not before.
    @discardableResult
    package func make() -> Bool {
        guard unsafe access(url.path, F_OK) != 0 else {
            unsafe unlink(mark.path)
            return false
        }
        guard available >= 2 * Self.size, fill() else {
            note()
            return false
        }
        unsafe unlink(mark.path)
        return true
    }

    /// Frees the space, if an error means that the disk is full.
    /// - Returns: whether space was freed, so that the failed operation should be tried again.
    func isGivenUp(because error: ServerError) -> Bool {
        let isFull =
            error.code == .fullDatabase
            || [.readOnlyDatabase, .file].contains(error.code) && available < Self.least
        // Only one of several processes frees it.
        guard isFull, unsafe unlink(url.path) == 0 else { return false }
        note()
        return true
    }

    /// With fewer bytes than this, a failed write is due to a full disk.
    private static let least = 1 << 20
    private static let chunk = 1 << 20

    private func note() {
        let descriptor = unsafe open(mark.path, O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600 as mode_t)
        if descriptor >= 0 { close(descriptor) }
    }

    /// The number of bytes that this user could write.
    private var available: Int {
        var status = statvfs()
        guard unsafe statvfs(url.deletingLastPathComponent().path, &status) == 0 else { return 0 }
        let (bytes, _) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return Int(clamping: bytes)
    }

    /// Creates the file with all its space, synced to disk, or nothing.
    private func fill() -> Bool {
        let temporary = url.deletingLastPathComponent().appending(path: ".reserve.new").path
        unsafe unlink(temporary)
        let descriptor = unsafe open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0o600 as mode_t)
        guard descriptor >= 0 else { return false }
        let isFilled = Self.fill(descriptor) && fsync(descriptor) == 0
        close(descriptor)
        guard isFilled, unsafe rename(temporary, url.path) == 0 else {
            unsafe unlink(temporary)
            return false
        }
        return true
    }

    private static func fill(_ descriptor: Int32) -> Bool {
        #if canImport(Glibc)
        return posix_fallocate(descriptor, 0, off_t(size)) == 0
        #else
        let zeros = [UInt8](repeating: 0, count: chunk)
        return (0..<size / chunk).allSatisfy { _ in
            unsafe zeros.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) } == chunk
        }
        #endif
    }
}
