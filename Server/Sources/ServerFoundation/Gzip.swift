import CZlib

/// Compresses documents once, before they are requested (RFC 1952).
package enum Gzip {
    /// The compressed bytes; nil if they save less than an eighth, which is not worth decompressing.
    package static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= 256, bytes.count <= Int(Int32.max) else { return nil }
        var stream = unsafe z_stream()
        // A window of 15 bits, and 16 for a gzip header without name and time, so that equal documents stay equal.
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
