import Foundation
import Holdfast
import HoldfastPublishing

/// Reads the pin files that arguments name.
enum PinFileReading {
    /// More than a pin file may have, so that its reader says what is wrong.
    static let maximumBytes = 8 << 20

    /// Reads a pin file, or says what the file is instead.
    /// - Parameters:
    ///   - name: the file's name for messages.
    ///   - remedies: what to do with other kinds of documents, for verbs that read those as well.
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
    /// - Throws: if it is such a file. The error says what it is and gives the command, but shows none of its content.
    func refuse(wanting purpose: Purpose) throws(CommandFailure) {
        try CommandFailure.rethrowing { () throws(PublishingError) in try check(wanting: purpose) }
    }
}
