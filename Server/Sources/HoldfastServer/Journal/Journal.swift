import Crypto

/// What was signed while the database could not be written (`holdfast-journal-v1`), until it is entered into history: a
/// first line that says where the audit ended then, and a line for each round.
///
/// Each line begins with a MAC over itself and the MAC of the line before, under a key that follows from the secret:
/// whoever can write to the folder can cut lines off at the end, and can neither add, change, reorder nor leave out any.
struct Journal: Sendable, Hashable {
    /// What it goes on from.
    struct Origin: Sendable, Hashable {
        let server: RandomID
        /// The end of the audit when it began, which also says which journal it is: once it is entered, none begins there.
        let head: AuditHead
    }

    let origin: Origin
    private(set) var records: [JournalRecord] = []
    /// The MAC of the last line.
    private(set) var seal: Digest
    /// How many octets its lines have.
    private(set) var length: Int
    /// Whether more follows: a line that was being written when the process ended.
    private(set) var isTorn = false

    private static let name = "holdfast-journal-v1"
    /// Some twenty apps for seven days.
    static let greatestSize = 64 << 20

    /// Begins a journal.
    /// - Returns: the journal, and its first line.
    static func begun(_ origin: Origin, with secret: SigningSecret) -> (journal: Journal, line: [UInt8]) {
        let (line, seal) = line(header(origin, secret), after: .nothing, secret)
        return (Journal(origin: origin, seal: seal, length: line.count), line)
    }

    private init(origin: Origin, seal: Digest, length: Int) {
        (self.origin, self.seal, self.length) = (origin, seal, length)
    }

    /// Adds a round.
    /// - Returns: the line to write.
    /// - Throws: ``ServerError`` `file` if there is no room for it.
    mutating func append(_ record: JournalRecord, with secret: SigningSecret) throws(ServerError) -> [UInt8] {
        let (line, seal) = Self.line(record.json(at: records.count), after: seal, secret)
        guard length + line.count <= Self.greatestSize else {
            throw ServerError(
                .file, of: "journal", expected: "at most \(Self.greatestSize) octets", found: "more",
                remedy: "Make the database writable again; nothing more is signed without it.")
        }
        records.append(record)
        self.seal = seal
        length += line.count
        return line
    }

    /// The newest version at each path.
    var newest: [String: Int64] {
        var newest: [String: Int64] = [:]
        for place in records.flatMap(\.documents).flatMap(\.places) { newest[place.path] = place.version }
        return newest
    }

    /// Whether most of it is octets that later ones have taken the place of.
    var isMostlyOld: Bool {
        let newest = newest
        let old = records.flatMap(\.documents).filter { document in
            !document.places.contains { newest[$0.path] == $0.version }
        }
        return old.reduce(0) { $0 + ($1.octets?.count ?? 0) } * 4 / 3 > length / 2
    }

    /// The same without the octets that later ones have taken the place of.
    /// - Returns: the journal, and everything that its file has.
    func compacted(with secret: SigningSecret) throws(ServerError) -> (journal: Journal, octets: [UInt8]) {
        let newest = newest
        var (journal, octets) = Self.begun(origin, with: secret)
        for record in records {
            let documents = record.documents.map { document in
                document.places.contains { newest[$0.path] == $0.version } ? document : document.withoutOctets
            }
            octets += try journal.append(record.with(documents), with: secret)
        }
        return (journal, octets)
    }

    /// Reads what is in a file, up to the first zero octet: what follows was reserved.
    /// - Throws: ``ServerError`` `secretFile` for the journal of another secret; `brokenChain` for lines that this server
    ///   has not written, or not in this order. A line without an end was never used, and is left out.
    init(_ octets: [UInt8], with secret: SigningSecret) throws(ServerError) {
        let used = octets[..<(octets.firstIndex(of: 0) ?? octets.endIndex)]
        var (position, previous) = (used.startIndex, Digest.nothing)
        func next() throws(ServerError) -> [UInt8]? {
            guard let end = used[position...].firstIndex(of: 0x0A) else { return nil }
            let line = used[position..<end]
            guard let mac = Digest(hex: line.prefix(64)), line.dropFirst(64).first == 0x20 else {
                throw Self.changed
            }
            let json = Array(line.dropFirst(65))
            guard Self.isSeal(mac, of: json, after: previous, secret) else { throw Self.changed }
            (position, previous) = (end + 1, mac)
            return json
        }
        origin = try Self.origin(in: used, secret)
        guard try next() != nil else { throw Self.changed }
        while let json = try next() {
            let value = try CanonicalJSONReader.read(json, "journal", limit: Self.greatestSize)
            let record = try JournalRecord(reading: value, at: records.count)
            guard record.time >= records.last?.time ?? 0 else { throw Self.changed }
            records.append(record)
        }
        seal = previous
        length = position - used.startIndex
        isTorn = octets[position...].contains { $0 != 0 }
    }

    /// Whether a file has a whole first line. Before that, nothing was ever signed for it.
    static func hasBegun(_ octets: [UInt8]) -> Bool {
        octets[..<(octets.firstIndex(of: 0) ?? octets.endIndex)].contains(0x0A)
    }

    // MARK: Lines

    private static func header(_ origin: Origin, _ secret: SigningSecret) -> CanonicalJSON {
        .object([
            "format": .text(name), "server": .text("\(origin.server)"), "head": .text("\(origin.head)"),
            "secret": .text(Hex.encode(secret.id)),
        ])
    }

    /// What the first line says, which is believed only once its MAC was verified.
    private static func origin(
        in octets: ArraySlice<UInt8>, _ secret: SigningSecret
    ) throws(ServerError) -> Origin {
        let line = octets.prefix { $0 != 0x0A }
        let (server, head, sealer): (RandomID, AuditHead, [UInt8])
        do throws(ServerError) {
            var fields = try JSONFields(
                try CanonicalJSONReader.read(Array(line.dropFirst(65)), "journal", limit: LineReader.lineOctets),
                "journal")
            try fields.text("format", name) { $0.elementsEqual(name.utf8) ? () : nil }
            server = try fields.text("server", "32 hexadecimal digits") { RandomID(hex: $0) }
            head = try fields.text("head", "a count and a digest") { AuditHead($0) }
            sealer = try fields.text("secret", "16 hexadecimal digits") { Hex.decode($0, count: 8) }
            try fields.finish()
        } catch {
            throw changed
        }
        guard sealer == secret.id else {
            throw ServerError(
                .secretFile, of: "journal", expected: "the secret \(Hex.encode(sealer))",
                found: "the secret \(Hex.encode(secret.id))",
                remedy:
                    "Give the secret with which it was begun; what it has must be entered before anything is signed.")
        }
        return Origin(server: server, head: head)
    }

    private static func line(
        _ json: CanonicalJSON, after previous: Digest, _ secret: SigningSecret
    ) -> (line: [UInt8], seal: Digest) {
        let octets = json.octets
        let seal = HMAC<SHA256>.authenticationCode(for: previous.octets + octets, using: secret.journalKey)
        let digits = Hex.encode(Array(seal))
        return (Array(digits.utf8) + [0x20] + octets + [0x0A], Digest(octets: Array(seal)) ?? .nothing)
    }

    private static func isSeal(
        _ seal: Digest, of json: [UInt8], after previous: Digest, _ secret: SigningSecret
    ) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(
            seal.octets, authenticating: previous.octets + json, using: secret.journalKey)
    }

    static var changed: ServerError {
        ServerError(
            .brokenChain, of: "journal", expected: "lines that this server wrote, in their order", found: "others",
            remedy:
                "Find out who wrote to it. Nothing is signed with it; to go on without it, restore a backup, whose versions "
                + "continue above everything that was ever public.")
    }
}
