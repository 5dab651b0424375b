import NIOHTTP1
import ServerFoundation
import ServerHTTP

/// The fields of a submitted form, each once. They are untrusted.
package struct FormEntries: Sendable {
    private var values: [String: [UInt8]] = [:]

    /// Maximum size in bytes: enough for 16 certificates or 40 authorities. The listener refuses bodies over 256 KiB.
    static let limit = 128 << 10

    /// Creates a form that is not filled in yet.
    /// - Parameter values: the initial values.
    init(_ values: [String: String]) { self.values = values.mapValues { Array($0.utf8) } }

    /// Reads the body of a form.
    /// - Throws: ``ServerError`` `malformed` for a body that is no form or too long, or an unknown or repeated field.
    init(_ bytes: [UInt8], of route: FormRoute) throws(ServerError) {
        let names = ["csrf"] + route.names
        guard bytes.count <= Self.limit else { throw Self.strange("more than \(Self.limit) bytes") }
        guard let fields = try? RequestTarget.fields(of: bytes[...]) else { throw Self.strange("another body") }
        for field in fields {
            guard let name = names.first(where: { $0.utf8.elementsEqual(field.name) }) else {
                throw Self.strange("a field that it has not")
            }
            // Browsers end lines with two characters (HTML 4.10.21.7).
            guard values.updateValue(field.value.filter { $0 != 0x0D }, forKey: name) == nil else {
                throw Self.strange("a field twice")
            }
        }
    }

    private static func strange(_ found: String) -> ServerError {
        ServerError(
            .malformed, of: "form", expected: "the fields of the form, each once", found: found,
            remedy: "Load the form again, and send it from there.")
    }

    /// The bytes of a field; empty if it is absent.
    func bytes(_ name: String) -> [UInt8] { values[name] ?? [] }

    /// Whether a checkbox is checked.
    func isChecked(_ name: String) -> Bool { bytes(name).elementsEqual("on".utf8) }

    /// The value of a field when the form is shown again. A private key that was pasted by mistake is not sent back.
    func shown(_ name: String) -> String {
        let text = String(decoding: bytes(name), as: UTF8.self)
        return text.utf8.count <= Self.limit && !hasPrivateKey(name) ? text : ""
    }

    /// Whether a field contains a private key.
    func hasPrivateKey(_ name: String) -> Bool {
        let words = Array("PRIVATE KEY".utf8)
        let text = bytes(name)
        return text.indices.contains { text[$0...].starts(with: words) }
    }

    /// Reads a number.
    func number(_ name: String, in range: ClosedRange<Int64>) throws(FormRefusal) -> Int64 {
        guard let number = LineReader.number(bytes(name)[...]), range.contains(number) else {
            throw FormRefusal(name, "a number from \(range.lowerBound) to \(range.upperBound)", "another text")
        }
        return number
    }

    /// Reads certificates in PEM.
    func certificates(_ name: String, _ expected: String) throws(FormRefusal) -> [[UInt8]] {
        try requirePublic(name)
        guard let blocks = PEMText.blocks("CERTIFICATE", of: bytes(name)), !blocks.isEmpty else {
            throw FormRefusal(
                name, expected, bytes(name).isEmpty ? "nothing" : "another text",
                "Paste the blocks BEGIN CERTIFICATE to END CERTIFICATE, and nothing else.")
        }
        return blocks
    }

    /// Refuses a private key, which must then be replaced.
    func requirePublic(_ name: String) throws(FormRefusal) {
        guard !hasPrivateKey(name) else {
            throw FormRefusal(
                name, "public data only", "a private key",
                "Nothing was saved. The key has left its safe location, so make a new key and use that instead.")
        }
    }
}

/// The reason why a form was not applied, or only in part, and its field; nil for the form as a whole.
package struct FormRefusal: Error, Sendable {
    let field: String?
    let error: AdministrationError
    /// A sentence that states which part was done and which was not.
    var outcome = "Nothing was done."

    init(_ field: String?, _ error: AdministrationError) {
        self.field = field
        self.error = error
    }

    /// Creates a refusal of an invalid value.
    init(_ field: String, _ expected: String, _ found: String, _ remedy: String = "Correct it, and send it again.") {
        let error = AdministrationError(
            .unprocessableEntity, .invalidValue, of: field, expected: expected, found: found, remedy: remedy)
        self.init(field, error)
    }

    /// Runs an operation of the server, and attributes its error to a field.
    /// - Parameters:
    ///   - field: the field of errors without a known subject; nil for the form as a whole.
    ///   - subjects: the fields by the subjects of errors.
    static func about<Value>(
        _ field: String?, _ subjects: [String: String] = [:], _ body: () async throws(ServerError) -> Value
    ) async throws(FormRefusal) -> Value {
        do throws(ServerError) {
            return try await body()
        } catch {
            throw FormRefusal(error.subject.flatMap { subjects[$0] } ?? field, AdministrationError(error))
        }
    }

    /// The refusal as text.
    var words: String {
        "\(error.code.rawValue): expected \(error.expected), found \(error.found)."
            + (error.remedy.isEmpty ? "" : " \(error.remedy)")
    }
}
