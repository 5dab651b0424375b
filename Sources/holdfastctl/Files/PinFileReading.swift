import Foundation
import Holdfast
import HoldfastPublishing

/// Reads the pin files that arguments name.
enum PinFileReading {
    /// Reads a pin file, or says what the file is instead.
    /// - Parameters:
    ///   - name: the file's name for messages.
    ///   - remedies: what to do with other kinds of documents, for verbs that read those as well.
    static func pinFile(
        _ data: Data, named name: String, remedies: [DocumentKind: String] = [:]
    ) throws(CommandFailure) -> PinFile {
        do throws(PinFileError) {
            return try PinFile(json: data)
        } catch {
            let kind = DocumentKind(data)
            // Other programs put certificates into the same CMS envelope.
            if kind != .trustServerDocument { try ForeignFile(data, path: name).refuse(wanting: .certificate) }
            guard kind != .pinFile else { throw CommandFailure(.invalidList, "\(name) is not a pin file: \(error)") }
            let remedy = remedies[kind].map { ": \($0)" } ?? ""
            throw CommandFailure(.invalidList, "\(name) is not a pin file, it looks like \(kind.description)\(remedy)")
        }
    }

    /// The fields of a pin file that this version does not know.
    static func unknownFields(
        _ data: Data, named name: String
    ) throws(CommandFailure) -> [PinFile.UnknownField] {
        do throws(DocumentError) {
            return try PinFile.unknownFields(in: data)
        } catch {
            throw CommandFailure(.invalidList, "\(name) is not a pin file: \(error)")
        }
    }
}
