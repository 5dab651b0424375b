import Foundation

/// Describes errors of other libraries in Holdfast's own text. The text of such an error may contain its input, even
/// keys, passwords and URLs; its type never does.
package enum ForeignErrorText {
    /// For a log: the full text of Holdfast's own errors, and only the type of others.
    package static func whole(_ error: any Error) -> String {
        (error as? any HoldfastError)?.description ?? found(error)
    }

    /// The text for the found value in a message.
    package static func found(_ error: any Error) -> String {
        switch error {
        case let error as any HoldfastError:
            return "\(error.found) instead of \(error.expected)"
        case let error as URLError:
            return "URLError \(error.code.rawValue)"
        case let error as CocoaError:
            return "error \(error.code.rawValue) of Foundation"
        case let error as POSIXError:
            return unsafe String(cString: strerror(error.code.rawValue))
        default:
            return "an error of the kind \(type(of: error))"
        }
    }
}

extension String {
    /// For a message: in quotation marks, at most 80 characters, with everything but printable ASCII escaped, so that
    /// an attacker's text cannot forge a log line or reverse its direction.
    package var quoted: String {
        let limit = 80
        var text = "\""
        for scalar in unicodeScalars.prefix(limit) { text += scalar.escaped(asASCII: true) }
        text += "\""
        return unicodeScalars.count > limit ? text + "…" : text
    }
}
