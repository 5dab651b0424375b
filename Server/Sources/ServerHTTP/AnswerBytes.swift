import NIOCore
import NIOHTTP1
import ServerFoundation

/// Serializes a response (RFC 9112 4 and 5): always with a length, never chunked.
///
/// NIO's encoder and header validation together cost as much as a signature. They handle every part of every message;
/// this writes the one form that responses have, in one step.
enum AnswerBytes {
    /// The interim response to a client that waits for it before it sends its body (RFC 9110 15.2.1).
    static let goOn = ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")

    /// Serializes the head of a response.
    /// - Returns: nil if a field is invalid: its name is no token, or its value has a control character, which could
    ///   start another field.
    static func head(
        _ status: HTTPResponseStatus, _ fields: [(name: String, value: String)], with allocator: ByteBufferAllocator,
        room: Int
    ) -> ByteBuffer? {
        var bytes = allocator.buffer(capacity: 512 + room)
        bytes.writeStaticString("HTTP/1.1 ")
        bytes.writeString(String(status.code))
        bytes.writeStaticString(" ")
        bytes.writeString(status.reasonPhrase)
        for (name, value) in fields {
            guard !name.isEmpty, name.utf8.allSatisfy(isTokenCharacter), value.utf8.allSatisfy(isFieldCharacter) else {
                return nil
            }
            bytes.writeStaticString("\r\n")
            bytes.writeString(name)
            bytes.writeStaticString(": ")
            bytes.writeString(value)
        }
        bytes.writeStaticString("\r\n\r\n")
        return bytes
    }

    /// Characters of tokens (RFC 9110 5.6.2), limited to those that occur in field names.
    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        ASCIIText.isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    /// Characters of field values (RFC 9110 5.5), without obsolete ones.
    private static func isFieldCharacter(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) || byte == 0x09 }
}
