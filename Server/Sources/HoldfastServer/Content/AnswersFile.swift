import Holdfast

/// What an operator writes about the answers to challenges, in JSON.
public struct AnswersFile: Sendable, Hashable {
    /// The rules for versions of the application.
    public let versions: [VersionRule]
    /// Texts for people.
    public let texts: [LocalizedText]

    /// Reads `{"versions": [...], "texts": [...]}`, with the fields of a content.
    /// - Parameters:
    ///   - octets: the text.
    ///   - name: what it is, for errors.
    /// - Throws: ``ServerError`` `invalidValue`, naming the field, or both lines of one that is there twice.
    public init(_ octets: [UInt8], named name: String) throws(ServerError) {
        (versions, texts) = try OperatorsFile.read(octets, name) { value throws(ServerError) in
            var fields = try JSONFields(value, name)
            let versions = try fields.array("versions", atMost: 1_000, VersionRule.init(reading:_:))
            let texts = try fields.array("texts", atMost: 10_000, LocalizedText.init(reading:_:))
            try fields.finish()
            return (versions, texts)
        }
    }
}

/// A file that somebody wrote by hand: whatever is wrong in it is a value to correct.
private enum OperatorsFile {
    static func read<Value>(
        _ octets: [UInt8], _ name: String, _ body: (CanonicalJSON) throws(ServerError) -> Value
    ) throws(ServerError) -> Value {
        do throws(ServerError) {
            return try body(try JSONReader.read(octets, name, limit: Content.greatestSize))
        } catch {
            throw ServerError(
                .invalidValue, of: error.subject ?? name, expected: error.expected, found: error.found,
                remedy: "Correct the file.")
        }
    }
}

extension ContentDomains {
    /// Reads `{"unlistedNeedPins": true, "domains": [...]}`, as an operator writes it.
    /// - Parameters:
    ///   - octets: the text.
    ///   - name: what it is, for errors.
    /// - Throws: ``ServerError`` `invalidValue`, naming the field, or both lines of one that is there twice.
    public init(_ octets: [UInt8], named name: String) throws(ServerError) {
        self = try OperatorsFile.read(octets, name) { value throws(ServerError) in
            try ContentDomains(reading: value, name)
        }
    }
}
