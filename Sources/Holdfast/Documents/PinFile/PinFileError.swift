/// The reason why a pin file cannot be read, made, or used for a purpose.
public struct PinFileError: HoldfastError {
    /// The reasons, a set that may grow. The format's test vectors name them too, so they are the same in every
    /// language.
    public typealias Code = OpenCode<PinFileError>

    /// The reason.
    public let code: Code
    /// The path to the invalid field, such as `hosts[3].pins[1].pin`; nil if the error concerns the file as a whole.
    public let field: String?
    /// The expected and the found value, and the remedy.
    public let facts: ErrorFacts

    package init(_ code: Code, at field: String?, expected: String, found: String, remedy: String? = nil) {
        self.code = code
        self.field = field.flatMap { $0.isEmpty ? nil : $0 }
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy ?? code.remedy)
    }
}

extension PinFileError.Code {
    /// The file cannot be read from the file system.
    public static var unreadableFile: Self {
        Self("Check the path, and that the file is among the resources of the application.")
    }
    /// More bytes than a pin file may have.
    public static var tooLarge: Self {
        Self("Leave out what is no longer used; hosts of one domain can share a pattern.")
    }
    /// Not JSON (RFC 8259) in UTF-8 without a byte-order mark, or nested too deep.
    public static var notJSON: Self {
        Self("Write JSON in UTF-8, without comments and without a comma after the last element.")
    }
    /// The same field twice in one object, regardless of escapes.
    public static var duplicateField: Self { Self("Keep one of the two; readers disagree about which one counts.") }
    /// A required field is missing.
    public static var missingField: Self { Self("Add the field.") }
    /// A value whose type does not match the field.
    public static var wrongType: Self { Self("Correct the value; docs/formats.md says what each field holds.") }
    /// A value of the right type that the field does not allow.
    public static var invalidValue: Self { Self("Correct the value; docs/formats.md says what each field holds.") }
    /// A text that is not a time in UTC as RFC 3339 writes it.
    public static var invalidTime: Self { Self("Write a time in UTC to the second, such as 2027-02-21T12:00:00Z.") }
    /// A text that is neither a host nor a pattern of hosts.
    public static var invalidHost: Self { Self("Write a host, *.DOMAIN or **.DOMAIN, without scheme and port.") }
    /// A text that is not a pin of a key.
    public static var invalidPin: Self {
        Self("Write sha256/ and the Base64 of the key's hash; `holdfastctl pin HOST` prints it.")
    }
    /// More hosts, pins, ports, anchors or members than a pin file may have.
    public static var tooMany: Self {
        Self("Leave out what is no longer used; hosts of one domain can share a pattern.")
    }
    /// Another version of the format.
    public static var unsupportedSchema: Self { Self("Update Holdfast, or write the file in schema 1.") }
    /// `critical` names a field that this reader does not know.
    public static var unknownCriticalField: Self {
        Self("Update Holdfast: the file depends on a field that this version does not know.")
    }
    /// The same host twice.
    public static var duplicateHost: Self { Self("Put all pins of the host into one entry.") }
    /// The same pin twice in one role of a host.
    public static var duplicatePin: Self { Self("Keep one of the two; two equal pins are one pin, not a backup.") }
    /// Two fields that contradict each other.
    public static var contradiction: Self { Self("Keep one of the two fields.") }
    /// Pins that no connection could ever satisfy.
    public static var unsatisfiable: Self {
        Self("Make a pin active, or add one that is; mode report tries pins out and refuses no server.")
    }

    // Additional requirements for a signed file
    /// A host has no backup key in case the first one is lost.
    public static var missingBackup: Self {
        Self(
            "Make a second key, keep it offline, and add its pin as a backup: `holdfastctl keygen --tls HOST -o backup.key`, "
                + "`holdfastctl pins add FILE HOST backup.csr --state backup`.")
    }
    /// A signed file has debug anchors.
    public static var debugAnchorsInSignedFile: Self {
        Self("Leave debugAnchors out of what is signed; ship them in a debug build's file.")
    }
}

extension PinFileError {
    /// `code in field: expected …, found …. Remedy.`
    public var description: String {
        "\(code.rawValue)\(field.map { " in \($0)" } ?? ""): expected \(expected), found \(found). \(remedy)"
    }

    /// The error of the strict reader, with the whole path to the field.
    init(_ error: DocumentError, at path: String) {
        self.init(Code(error.code), at: path, expected: error.expected, found: error.found)
    }

    /// The same error, located inside a field.
    func within(_ path: String) -> PinFileError {
        let inner = field ?? ""
        let separator = path.isEmpty || inner.isEmpty || inner.utf8.first == UInt8(ascii: "[") ? "" : "."
        return PinFileError(code, at: path + separator + inner, expected: expected, found: found, remedy: remedy)
    }
}

extension PinFileError.Code {
    fileprivate init(_ code: DocumentError.Code) {
        self =
            switch code {
            case .tooLarge: .tooLarge
            case .duplicateKey: .duplicateField
            case .tooManyMembers, .tooManyEntries: .tooMany
            case .missingField: .missingField
            case .wrongType, .notAnInteger: .wrongType
            case .textTooLong, .notCanonicalBase64, .invalidValue: .invalidValue
            default: .notJSON
            }
    }
}
