import NIOCore
import NIOHTTP1

/// An answer as it goes over the wire (RFC 9112 4 and 5): always with a length, never in chunks.
///
/// NIO's encoder and its validation of headers cost as much as a signature together. What they do here in general for any
/// part of any message, this does for the one form that answers have, and writes it at once.
enum AnswerBytes {
    /// To a client that waits with its body until it is told to go on (RFC 9110 15.2.1).
    static let goOn = ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")

    /// The head of an answer.
    /// - Returns: nil if a field is none: its name is no token, or its value has a control character, which could begin
    ///   another field.
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

    /// RFC 9110 5.6.2. Of its signs, those that names of fields have.
    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        ASCIIText.isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    /// RFC 9110 5.5, without what is obsolete.
    private static func isFieldCharacter(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) || byte == 0x09 }
}
