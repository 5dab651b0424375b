import CZlib

/// Compresses documents once, before anybody asks (RFC 1952).
enum Gzip {
    /// The compressed bytes; nil if they are not at least an eighth fewer, which is not worth a client's effort.
    static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= 256, bytes.count <= Int(Int32.max) else { return nil }
        var stream = unsafe z_stream()
        // 15 bits of window, and 16 for the header of gzip with no name and no time, so equal documents stay equal.
        guard
            unsafe deflateInit2_(
                &stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { return nil }
        defer { unsafe deflateEnd(&stream) }
        var input = bytes
        var output = [UInt8](repeating: 0, count: bytes.count - bytes.count / 8)
        let status = unsafe input.withUnsafeMutableBufferPointer { source in
            unsafe output.withUnsafeMutableBufferPointer { target in
                unsafe stream.next_in = source.baseAddress
                unsafe stream.avail_in = UInt32(source.count)
                unsafe stream.next_out = target.baseAddress
                unsafe stream.avail_out = UInt32(target.count)
                return unsafe deflate(&stream, Z_FINISH)
            }
        }
        guard status == Z_STREAM_END else { return nil }
        return Array(output.prefix(unsafe Int(stream.total_out)))
    }
}
