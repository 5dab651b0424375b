import NIOHTTP1

/// What somebody wrote into a form: the fields that it has, each once. Nothing that it says is believed yet.
struct FormEntries: Sendable {
    private var values: [String: [UInt8]] = [:]

    /// Sixteen certificates fit in, or forty authorities; the listener refuses more than 256 KiB before it is sent.
    static let limit = 128 << 10

    /// A form that nobody has filled in yet.
    /// - Parameter values: what stands in it.
    init(_ values: [String: String]) { self.values = values.mapValues { Array($0.utf8) } }

    /// Reads the body of a form.
    /// - Throws: ``ServerError`` `malformed` for what is no form, too long, has a field twice, or one that the form has not.
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

    /// Whether somebody chose it.
    func isChecked(_ name: String) -> Bool { bytes(name).elementsEqual("on".utf8) }

    /// What stands in a field when the form is shown again. A private key that somebody pasted by mistake is not sent back.
    func shown(_ name: String) -> String {
        let text = String(decoding: bytes(name), as: UTF8.self)
        return text.utf8.count <= Self.limit && !hasPrivateKey(name) ? text : ""
    }

    /// Whether somebody pasted what nobody else may have.
    func hasPrivateKey(_ name: String) -> Bool {
        let words = Array("PRIVATE KEY".utf8)
        let text = bytes(name)
        return text.indices.contains { text[$0...].starts(with: words) }
    }

    /// A number.
    func number(_ name: String, in range: ClosedRange<Int64>) throws(FormRefusal) -> Int64 {
        guard let number = LineReader.number(bytes(name)[...]), range.contains(number) else {
            throw FormRefusal(name, "a number from \(range.lowerBound) to \(range.upperBound)", "another text")
        }
        return number
    }

    /// Certificates in PEM.
    func certificates(_ name: String, _ expected: String) throws(FormRefusal) -> [[UInt8]] {
        try requirePublic(name)
        guard let blocks = PEMText.blocks("CERTIFICATE", of: bytes(name)), !blocks.isEmpty else {
            throw FormRefusal(
                name, expected, bytes(name).isEmpty ? "nothing" : "another text",
                "Paste the blocks BEGIN CERTIFICATE to END CERTIFICATE, and nothing else.")
        }
        return blocks
    }

    /// Refuses a private key, which has to be replaced after that.
    func requirePublic(_ name: String) throws(FormRefusal) {
        guard !hasPrivateKey(name) else {
            throw FormRefusal(
                name, "what everybody may know", "a private key",
                "Nothing was kept. It has left its place, so make a new key.")
        }
    }
}

/// Why a form does nothing or not all, and which of its fields it is about; nil for the form as a whole.
struct FormRefusal: Error, Sendable {
    let field: String?
    let error: AdministrationError
    /// What was done all the same, and what was not.
    var outcome = "Nothing was done."

    init(_ field: String?, _ error: AdministrationError) {
        self.field = field
        self.error = error
    }

    /// What somebody wrote is not what it has to be.
    init(_ field: String, _ expected: String, _ found: String, _ remedy: String = "Correct it, and send it again.") {
        let error = AdministrationError(
            .unprocessableEntity, .invalidValue, of: field, expected: expected, found: found, remedy: remedy)
        self.init(field, error)
    }

    /// Does something of the server, and says beside a field what it refuses.
    /// - Parameters:
    ///   - field: the field that it is about; nil for the form as a whole.
    ///   - subjects: fields by what the rest of the server calls them.
    static func about<Value>(
        _ field: String?, _ subjects: [String: String] = [:], _ body: () async throws(ServerError) -> Value
    ) async throws(FormRefusal) -> Value {
        do throws(ServerError) {
            return try await body()
        } catch {
            throw FormRefusal(error.subject.flatMap { subjects[$0] } ?? field, AdministrationError(error))
        }
    }

    /// In words.
    var words: String {
        "\(error.code.rawValue): expected \(error.expected), found \(error.found)."
            + (error.remedy.isEmpty ? "" : " \(error.remedy)")
    }
}
