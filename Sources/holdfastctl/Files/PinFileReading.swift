import Foundation
import Holdfast
import HoldfastPublishing

/// Reads the pin files that arguments name.
enum PinFileReading {
    /// More than a pin file may have, so that its reader reports the error.
    static let maximumBytes = 8 << 20

    /// Reads a pin file. For any other file, the error states its kind.
    /// - Parameters:
    ///   - name: the file's name for messages.
    ///   - remedies: the remedies for other kinds of documents, for verbs that read those as well.
    static func document(
        _ data: Data, named name: String, remedies: [DocumentKind: String] = [:]
    ) throws(CommandFailure) -> PinFileDocument {
        try CommandFailure.rethrowing { () throws(PublishingError) in
            try PinFileDocument(data, named: name, remedies: remedies)
        }
    }

    static func pinFile(
        _ data: Data, named name: String, remedies: [DocumentKind: String] = [:]
    ) throws(CommandFailure) -> PinFile { try document(data, named: name, remedies: remedies).file }
}

extension ForeignFile {
    /// - Throws: if it is such a file. The error names its kind and the command, but no content.
    func refuse(wanting purpose: Purpose) throws(CommandFailure) {
        try CommandFailure.rethrowing { () throws(PublishingError) in try check(wanting: purpose) }
    }
}
