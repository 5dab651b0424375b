/// What was signed again in one round of an app while the database could not be written, and the versions that this used.
struct JournalRecord: Sendable, Hashable {
    /// Where a document is, and its version there.
    struct Place: Sendable, Hashable {
        let path: String
        let version: Int64
    }

    /// A document, in all places that got the same octets.
    struct Document: Sendable, Hashable {
        let places: [Place]
        let digest: Digest
        /// The octets; nil once a later one is in all its places.
        let octets: [UInt8]?
        /// The last second at which clients accept it, in seconds since 1970.
        let end: Int64

        init(places: [Place], octets: [UInt8], end: Int64) {
            self.init(places: places, digest: Digest(of: octets), octets: octets, end: end)
        }

        private init(places: [Place], digest: Digest, octets: [UInt8]?, end: Int64) {
            (self.places, self.digest, self.octets, self.end) = (places, digest, octets, end)
        }

        var withoutOctets: Document { Document(places: places, digest: digest, octets: nil, end: end) }
    }

    let app: AppName
    /// The generation that says what was signed.
    let generation: Int64
    /// When it was signed, in seconds since 1970.
    let time: Int64
    let documents: [Document]

    private static let longestPath = 512
    private static let greatestDocuments = 64
    private static let greatestPlaces = 8

    init(app: AppName, generation: Int64, time: Int64, documents: [Document]) {
        (self.app, self.generation, self.time, self.documents) = (app, generation, time, documents)
    }

    /// The same with other documents.
    func with(_ documents: [Document]) -> JournalRecord {
        JournalRecord(app: app, generation: generation, time: time, documents: documents)
    }

    /// - Parameter index: the place in the journal, from 0 on.
    func json(at index: Int) -> CanonicalJSON {
        .object([
            "app": .text("\(app)"), "documents": .array(documents.map(\.json)), "generation": .integer(generation),
            "index": .integer(Int64(index)), "time": .integer(time),
        ])
    }

    init(reading value: CanonicalJSON, at index: Int) throws(ServerError) {
        var fields = try JSONFields(value, "journal")
        guard try fields.integer("index", in: 0...CanonicalJSON.greatestInteger) == Int64(index) else {
            throw fields.invalid("index", "\(index)")
        }
        app = try fields.text("app", "the name of an app") { AppName(octets: $0) }
        generation = try fields.integer("generation", in: 1...CanonicalJSON.greatestInteger)
        time = try fields.integer("time", in: UTCText.range)
        documents = try fields.array("documents", atMost: Self.greatestDocuments, Document.init(reading:_:))
        try fields.finish()
    }

    fileprivate static func path(_ octets: [UInt8]) -> String? {
        ASCIIText.isPrintable(octets, 1...longestPath) ? String(decoding: octets, as: UTF8.self) : nil
    }

    fileprivate static func places(_ fields: inout JSONFields) throws(ServerError) -> [Place] {
        try fields.array("places", atMost: greatestPlaces) { value, place throws(ServerError) in
            var fields = try JSONFields(value, place)
            let path = try fields.text("path", "a path") { Self.path($0) }
            let version = try fields.integer("version", in: 1...CanonicalJSON.greatestInteger)
            try fields.finish()
            return Place(path: path, version: version)
        }
    }
}

extension JournalRecord.Document {
    fileprivate var json: CanonicalJSON {
        var members: [String: CanonicalJSON] = [
            "digest": .text("\(digest)"), "end": .integer(end),
            "places": .array(
                places.map { .object(["path": .text($0.path), "version": .integer($0.version)]) }),
        ]
        if let octets { members["octets"] = .text(Base64.encode(octets)) }
        return .object(members)
    }

    fileprivate init(reading value: CanonicalJSON, _ place: String) throws(ServerError) {
        var fields = try JSONFields(value, place)
        places = try JournalRecord.places(&fields)
        digest = try fields.text("digest", "64 hexadecimal digits") { Digest(hex: $0) }
        end = try fields.integer("end", in: UTCText.range)
        octets = try fields.optionalText("octets").map { text throws(ServerError) in
            guard let octets = Base64.decode(text) else { throw fields.invalid("octets", "Base64") }
            return octets
        }
        try fields.finish()
        if let octets, Digest(of: octets) != digest { throw fields.invalid("octets", "those of the digest") }
    }
}
