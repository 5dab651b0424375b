import Foundation

/// Disk space that is held back beside the database, and given up once the disk is full: what is written then has room, and
/// people have time to make more. A server that runs holds it back again once there is twice as much.
public struct DiskReserve: Sendable {
    /// In bytes.
    static let size = 64 << 20

    /// The file that takes the space.
    let url: URL

    /// - Parameter folder: the folder of the database.
    init(in folder: URL) { url = folder.appending(path: "reserve") }

    /// Made in its place when the space was given up, or could not be held back, so that commands know it as well.
    private var mark: URL { url.deletingLastPathComponent().appending(path: "reserve.missing") }

    /// Whether there should be a reserve, and is none.
    public var isMissing: Bool { unsafe access(mark.path, F_OK) == 0 }

    /// That there is none, and what to do, in words; nil if all is well.
    public var warning: String? {
        guard isMissing else { return nil }
        return "no space is held back for a full disk: \(Self.size >> 20) MiB are given up once, and held back again "
            + "when there are \(Self.size >> 19) MiB; make room in \(url.deletingLastPathComponent().path)"
    }

    /// Holds space back, if there is twice as much.
    /// - Returns: whether it is held back now, and was not before.
    @discardableResult
    func make() -> Bool {
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

    /// Gives the space up, if an error says that the disk is full.
    /// - Returns: whether there was any, so that what failed should be tried again.
    func isGivenUp(because error: ServerError) -> Bool {
        let isFull =
            error.code == .fullDatabase
            || [.readOnlyDatabase, .file].contains(error.code) && available < Self.least
        // Of several processes one gives it up.
        guard isFull, unsafe unlink(url.path) == 0 else { return false }
        note()
        return true
    }

    /// With less than this, in bytes, something that cannot be written lacks space.
    private static let least = 1 << 20
    private static let chunk = 1 << 20

    private func note() {
        let descriptor = unsafe open(mark.path, O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600 as mode_t)
        if descriptor >= 0 { close(descriptor) }
    }

    /// How many bytes this user could write.
    private var available: Int {
        var status = statvfs()
        guard unsafe statvfs(url.deletingLastPathComponent().path, &status) == 0 else { return 0 }
        let (bytes, _) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return Int(clamping: bytes)
    }

    /// Makes the file with all its space, which is on the disk when this returns, or none.
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
