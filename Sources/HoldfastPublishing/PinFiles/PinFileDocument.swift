public import Foundation
public import Holdfast

/// A pin file as it was read: its value, and the fields in it that this version does not know.
public struct PinFileDocument: Sendable {
    /// The pin file.
    public let file: PinFile
    /// The paths of fields that this version does not know, such as `hosts[3].note`. A file that is written from
    /// ``file`` has none of them.
    public var unknownFields: [String] { fields.map(\.path) }
    package let fields: [PinFile.UnknownField]

    /// Reads a pin file. If it is another kind of file, the error names the kind.
    /// - Parameters:
    ///   - data: the file.
    ///   - name: the file's name for messages.
    /// - Throws: ``PublishingError`` `invalidDocument`.
    public init(_ data: Data, named name: String) throws(PublishingError) {
        try self.init(data, named: name, remedies: [:])
    }

    /// - Parameter remedies: the remedies for other kinds of documents, for callers that read those as well.
    package init(_ data: Data, named name: String, remedies: [DocumentKind: String]) throws(PublishingError) {
        do throws(PinFileError) {
            file = try PinFile(json: data)
        } catch {
            let kind = DocumentKind(data)
            // Other programs use the same CMS envelope for certificates.
            if kind != .trustServerDocument { try ForeignFile(data, path: name).check(wanting: .certificate) }
            guard kind == .pinFile else {
                throw PublishingError(
                    .invalidDocument, of: name, expected: "a pin file", found: kind.description,
                    remedy: remedies[kind] ?? "Name a pin file.")
            }
            let place = error.field.map { " in \($0)" } ?? ""
            throw PublishingError(
                .invalidDocument, of: name, expected: "a pin file",
                found: "\(error.code.rawValue)\(place): \(error.found) instead of \(error.expected)",
                remedy: error.remedy)
        }
        do throws(DocumentError) {
            fields = try PinFile.unknownFields(in: data)
        } catch {
            throw PublishingError(
                .invalidDocument, of: name, expected: "a pin file", found: ForeignErrorText.found(error))
        }
    }
}
