import Crypto
import ServerFoundation
import ServerStore

/// Decrypts and parses a backup as a stream, in constant memory.
struct BackupContent {
    /// The manifest of the backup.
    let manifest: BackupManifest
    /// The number of opened messages.
    let effort: Int

    /// Reads a backup.
    /// - Parameters:
    ///   - key: the recipient's.
    ///   - secret: the secret at the time of the backup.
    ///   - source: returns the given number of bytes of the file, or fewer at its end.
    ///   - manifested: gets the manifest before the database.
    ///   - database: gets the database, part by part. Discard all parts if this throws.
    /// - Throws: ``ServerError``; errors of the closures.
    init(
        _ key: BackupPrivateKey, _ secret: SigningSecret,
        from source: (Int) throws(ServerError) -> [UInt8],
        manifested: (BackupManifest) throws(ServerError) -> Void = { _ in },
        database: ([UInt8]) throws(ServerError) -> Void
    ) throws(ServerError) {
        let whole = BackupSeal.messageBytes + BackupSeal.tagBytes
        let first = try source(BackupSeal.maximumHeader)
        guard let end = Self.headerEnd(first) else { throw BackupSeal.damaged }
        var reader = try BackupSeal.Reader(Array(first[..<end]), key, secret)
        var waiting = Array(first[end...])
        var beginning: [UInt8] = []
        var manifest: BackupManifest?
        var hash = SHA256()
        var size: Int64 = 0
        var isLast = false
        repeat {
            // Only the next message shows whether a message is the last.
            waiting += try source(2 * whole - waiting.count)
            isLast = waiting.count <= whole
            var opened = try reader.open(Array(waiting.prefix(whole)), isLast: isLast)
            waiting.removeFirst(min(whole, waiting.count))
            if manifest == nil {
                beginning += opened
                guard let feed = beginning.firstIndex(of: 0x0A) else {
                    guard beginning.count <= BackupManifest.maximumBytes else { throw BackupSeal.damaged }
                    continue
                }
                let read = try BackupManifest(Array(beginning[..<feed]))
                try manifested(read)
                manifest = read
                opened = Array(beginning[(feed + 1)...])
            }
            size += Int64(opened.count)
            hash.update(data: opened)
            try database(opened)
        } while !isLast
        guard let manifest, manifest.size == size, manifest.digest.bytes == Array(hash.finalize()) else {
            throw BackupSeal.damaged
        }
        self.manifest = manifest
        effort = reader.effort
    }

    /// The offset of the first message: after four lines.
    private static func headerEnd(_ bytes: [UInt8]) -> Int? {
        let feeds = bytes.indices.lazy.filter { bytes[$0] == 0x0A }.prefix(4)
        return feeds.count == 4 ? feeds.last.map { $0 + 1 } : nil
    }
}
