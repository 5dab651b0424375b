import Holdfast
import NIOHPACK
import NIOHTTP1
import NIOHTTP2

// An invalid response, described in Holdfast's own text, because other libraries' errors contain unescaped data of the
// server.
extension PinnedHTTPClientError {
    static func malformedResponse(found: String) -> PinnedHTTPClientError {
        PinnedHTTPClientError(
            .malformedResponse,
            expected: """
                at most \(ResponseGrammar.maximumInformationalHeads) informational responses, then one with a status of \
                200 to 599, its body and its end
                """,
            found: found,
            remedy: "Report it to the operator of the server, and check what stands between it and this client.")
    }

    /// An error of NIOHTTP1's decoder; nil if the connection only ended early.
    /// - Parameter line: the beginning of the invalid response; nil after a valid head.
    static func malformedResponse(_ error: any Error, line: [UInt8]?) -> PinnedHTTPClientError? {
        switch error {
        case HTTPParserError.invalidEOFState: return nil
        case is HTTPParserError, is NIOHTTPDecoderError: break
        default: return nil
        }
        if let found = found(http1: error) { return .malformedResponse(found: found) }
        guard let line else { return .malformedResponse(found: "octets that HTTP/1.1 does not allow there") }
        let text = String(decoding: line, as: UTF8.self).quoted
        return .malformedResponse(
            found: isStatusLine(line)
                ? "octets that HTTP/1.1 does not allow behind \(text)" : "\(text) where a status line begins")
    }

    /// A version, a space, three digits, and nothing or a reason (RFC 9112 4).
    private static func isStatusLine(_ line: [UInt8]) -> Bool {
        line.starts(with: Array("HTTP/1.".utf8)) && line.dropFirst(8).first == 0x20
            && line.dropFirst(9).prefix(3).count { (0x30...0x39).contains($0) } == 3
            && line.dropFirst(12).first ?? 0x20 == 0x20
    }

    /// A description; nil if the error may concern the status line.
    private static func found(http1 error: any Error) -> String? {
        switch error {
        case HTTPParserError.headerOverflow: "more fields, or longer ones, than this client reads"
        case HTTPParserError.invalidHeaderToken: "a field with octets that HTTP/1.1 does not allow there"
        case HTTPParserError.invalidContentLength:
            "a content-length that is not a valid number, or that contradicts another field"
        case HTTPParserError.unexpectedContentLength: "lengths that contradict each other"
        case HTTPParserError.invalidChunkSize: "a chunk whose length is not a valid number"
        default: nil
        }
    }

    /// An error of NIOHTTP2's handler; nil if it is not about the server.
    static func malformedResponse(http2 error: any Error) -> PinnedHTTPClientError? {
        switch error {
        // Errors about streams that this client opens too late.
        case is NIOHTTP2Errors.StreamError, is NIOHTTP2Errors.CreatedStreamAfterGoaway,
            is NIOHTTP2Errors.IOOnClosedConnection:
            return nil
        case is any NIOHTTP2Error, is any NIOHPACKError: return .malformedResponse(found: found(error))
        default: return nil
        }
    }

    private static func found(_ error: any Error) -> String {
        switch error {
        case let error as NIOHTTP2Errors.InvalidPseudoHeaders:
            guard let status = error.headerBlock.status else { return "a head without a status" }
            return "the status \(status.quoted) where none may be"
        case let error as NIOHTTP2Errors.InvalidPseudoHeaderValue:
            return "the field \(error.name.quoted) with the value \(error.value.quoted)"
        case let error as NIOHTTP2Errors.DuplicatePseudoHeader: return "the field \(error.name.quoted) twice"
        case let error as NIOHTTP2Errors.UnknownPseudoHeader: return "the field \(error.name.quoted)"
        case let error as NIOHTTP2Errors.PseudoHeaderAfterRegularHeader:
            return "the field \(error.name.quoted) behind others"
        case let error as NIOHTTP2Errors.InvalidHTTP2HeaderFieldName: return "the field \(error.fieldName.quoted)"
        case let error as NIOHTTP2Errors.InvalidHTTP2HeaderFieldValue:
            return "the field \(error.name.quoted) with the value \(error.value.quoted)"
        case let error as NIOHTTP2Errors.ForbiddenHeaderField:
            return "the field \(error.name.quoted), which HTTP/2 does not have"
        case is NIOHTTP2Errors.TrailersWithoutEndStream: return "trailers that are not the end"
        case is NIOHTTP2Errors.ContentLengthViolated: return "a body that is not as long as content-length says"
        case is NIOHTTP2Errors.ContentLengthHeadersMismatch, is NIOHTTP2Errors.ContentLengthHeaderNegative,
            is NIOHTTP2Errors.ContentLengthHeaderMalformedValue:
            return "a content-length that is not a valid number"
        case is NIOHTTP2Errors.FlowControlViolation: return "more data than this client had asked for"
        case is NIOHTTP2Errors.PushInViolationOfSetting:
            return "a response to a request that nobody made (PUSH_PROMISE)"
        case let error as NIOHTTP2Errors.NoSuchStream: return "a frame on stream \(error.streamID), which is not open"
        case is NIOHTTP2Errors.BadStreamStateTransition: return "a frame out of turn"
        default: return "a frame that HTTP/2 does not allow there"
        }
    }
}

extension HPACKHeaders {
    /// The value of `:status`.
    var status: String? {
        // Names are compared as bytes, because normalizing a server's name as `String` may take long.
        first { name, _, _ in name.utf8.elementsEqual(":status".utf8) }?.value
    }
}
