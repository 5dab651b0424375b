import Foundation
import Synchronization

/// The file of a ``Journal``, beside the database. Space for it is reserved while there is some, so that a full disk stops
/// no round at once: it is filled with zeros in advance, and ends at the first of them.
///
/// Whoever writes to it holds the lock of the head, as whoever writes to the database does.
final class JournalFile: Sendable {
    let url: URL
    /// The last journal that this process has read or written, and how many rounds it had: nobody takes any away.
    private let known = Mutex<JournalMark?>(nil)

    /// In octets.
    private static let reserve = 8 << 20
    private static let chunk = 64 << 10
    /// Above so many octets, those are left out that nobody needs anymore.
    private let roomy: Int

    init(_ url: URL, roomy: Int = reserve / 2) { (self.url, self.roomy) = (url, roomy) }

    /// Whether something is there, or was there, that history may not have.
    /// - Parameter entered: what history has.
    /// - Throws: ``ServerError`` `file`.
    func waits(entered: JournalMark?) throws(ServerError) -> Bool {
        let isMissing = known.withLock { known in
            guard let mark = known, entered?.covers(mark) != true else {
                known = nil
                return false
            }
            return true
        }
        if isMissing { return true }
        return try Journal.hasBegun(octets(atMost: LineReader.lineOctets))
    }

    /// The journal; nil if nothing was ever written.
    /// - Parameters:
    ///   - secret: what its lines are chained with.
    ///   - entered: what history has.
    /// - Throws: ``ServerError``, as ``Journal/init(_:with:)``; `brokenChain` also for one that has lost rounds.
    func read(with secret: SigningSecret, entered: JournalMark?) throws(ServerError) -> Journal? {
        let octets = try octets()
        let journal = Journal.hasBegun(octets) ? try Journal(octets, with: secret) : nil
        let before = known.withLock { $0 }
        if let before, entered?.covers(before) != true {
            guard journal?.mark.covers(before) == true else { throw Journal.changed }
        }
        known.withLock { $0 = journal?.mark }
        return journal
    }

    /// Writes a round. It is on the disk when this returns.
    /// - Parameters:
    ///   - record: the round.
    ///   - journal: what ``read(with:entered:)`` gave; nil to begin one.
    ///   - origin: what a new one goes on from.
    ///   - secret: what lines are chained with.
    /// - Throws: ``ServerError`` `file`. Whatever is in the file then is no round.
    func append(
        _ record: JournalRecord, to journal: Journal?, from origin: Journal.Origin, with secret: SigningSecret
    ) throws(ServerError) {
        var next: Journal
        var octets: [UInt8] = []
        let start = journal?.length ?? 0
        if let journal { next = journal } else { (next, octets) = Journal.begun(origin, with: secret) }
        octets += try next.append(record, with: secret)
        let isTorn = if let journal { journal.isTorn } else { try self.octets(atMost: 1).contains { $0 != 0 } }
        // A zero after it ends the journal, whatever follows.
        try write(octets + [0], at: start, isClean: !isTorn)
        known.withLock { $0 = next.mark }
        guard next.length > roomy, next.isMostlyOld else { return }
        let compacted = try next.compacted(with: secret)
        // On a full disk it stays as it is.
        guard (try? WholeFile.replace(url, with: compacted.octets)) != nil else { return }
        reserve()
    }

    /// Forgets what history has now.
    /// - Throws: ``ServerError`` `file`; what is there is known to be entered then.
    func clear() throws(ServerError) {
        try WholeFile.replace(url, with: [])
        known.withLock { $0 = nil }
        reserve()
    }

    /// Whether it could be written, as far as its permissions say.
    var isWritable: Bool {
        let isThere = unsafe access(url.path, F_OK) == 0
        return unsafe access(isThere ? url.path : url.deletingLastPathComponent().path, W_OK) == 0
    }

    /// Reserves space, as far as there is some.
    func reserve() {
        let descriptor = unsafe open(url.path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600 as mode_t)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size < Self.reserve
        else { return }
        #if canImport(Glibc)
        guard posix_fallocate(descriptor, 0, off_t(Self.reserve)) == 0 else { return }
        #endif
        fsync(descriptor)
    }

    // MARK: Octets

    /// Everything before the zeros.
    private func octets(atMost limit: Int = .max) throws(ServerError) -> [UInt8] {
        let descriptor = unsafe open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT { return [] }
            throw failure("a file that can be read")
        }
        defer { close(descriptor) }
        try requireRegular(descriptor)
        var octets: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: min(Self.chunk, limit))
        while octets.count < limit {
            let count = unsafe chunk.withUnsafeMutableBytes {
                unsafe Foundation.read(descriptor, $0.baseAddress, $0.count)
            }
            guard count >= 0 else { throw failure("a file that can be read") }
            octets += chunk.prefix(count)
            guard count > 0, chunk.prefix(count).contains(where: { $0 != 0 }) else { return octets }
            guard octets.count <= Journal.greatestSize else {
                throw ServerError(
                    .file, of: url.path, expected: "at most \(Journal.greatestSize) octets", found: "more")
            }
        }
        return octets
    }

    private func requireRegular(_ descriptor: Int32) throws(ServerError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw ServerError(.file, of: url.path, expected: "a regular file", found: "something else")
        }
    }

    /// - Parameter isClean: whether there are only zeros from there on.
    private func write(_ octets: [UInt8], at start: Int, isClean: Bool) throws(ServerError) {
        let isNew = !FileManager.default.fileExists(atPath: url.path)
        let descriptor = unsafe open(url.path, O_CREAT | O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0o600 as mode_t)
        guard descriptor >= 0 else { throw failure("a file that can be written") }
        defer { close(descriptor) }
        try requireRegular(descriptor)
        if !isClean { try clean(descriptor, from: start) }
        do throws(ServerError) {
            try put(octets, descriptor, at: start)
        } catch {
            // A part of a line is none; the next one takes its place all the same.
            try? clean(descriptor, from: start)
            throw error
        }
        guard isNew else { return }
        let folder = unsafe open(url.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw failure("a folder that can be written") }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw failure("a folder that can be written") }
    }

    /// Writes zeros over what is left of a line, which keeps the space that was reserved.
    private func clean(_ descriptor: Int32, from start: Int) throws(ServerError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw failure("a file that can be written") }
        let zeros = [UInt8](repeating: 0, count: Self.chunk)
        for place in stride(from: start, to: Int(status.st_size), by: Self.chunk) {
            try put(Array(zeros.prefix(Int(status.st_size) - place)), descriptor, at: place, isSynced: false)
        }
        guard fsync(descriptor) == 0 else { throw failure("a file that can be written") }
    }

    private func put(
        _ octets: [UInt8], _ descriptor: Int32, at start: Int, isSynced: Bool = true
    ) throws(ServerError) {
        var (rest, place) = (octets[...], start)
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes {
                unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(place))
            }
            guard written > 0 else { throw failure("a file that can be written") }
            rest = rest.dropFirst(written)
            place += written
        }
        guard !isSynced || fsync(descriptor) == 0 else { throw failure("a file that can be written") }
    }

    private func failure(_ expected: String) -> ServerError {
        ServerError(.file, of: url.path, expected: expected, found: SystemText.of(errno))
    }
}
