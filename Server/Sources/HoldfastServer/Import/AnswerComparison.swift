import Crypto
import Holdfast

/// Compares what two servers answer to the same question.
struct AnswerComparison {
    private struct Entry: Hashable {
        let name: [UInt8]
        let fingerprint: [UInt8]
        let depth: Int64

        var words: String {
            let name = ASCIIText.isPrintable(name, 1...255) ? String(decoding: name, as: UTF8.self) : "a strange name"
            let isDigest = Base64.decode(fingerprint)?.count == 32
            let digest = isDigest ? String(decoding: fingerprint, as: UTF8.self) : "a strange fingerprint"
            return "\(name), \(digest)\(depth > 0 ? " at depth \(depth)" : "")"
        }
    }

    private(set) var differences: [String] = []
    private(set) var notes: [String] = []
    /// What the other server says that the time is; nil if it does not say.
    private(set) var time: Int64?
    private let question: ComparisonQuestion
    private let own: OwnAnswers

    init(_ question: ComparisonQuestion, _ own: OwnAnswers) {
        self.question = question
        self.own = own
    }

    private static let greatestBody = Content.greatestSize

    mutating func compare(_ theirs: HTTPExchange.Answer, _ ours: HTTPExchange.Answer) {
        guard theirs.status == ours.status else {
            differences.append("the other server answers \(theirs.status), and this one \(ours.status)")
            return
        }
        let signatures = (theirs.header(Challenge.signatureHeader), ours.header(Challenge.signatureHeader))
        if (signatures.0 == nil) != (signatures.1 == nil) {
            differences.append(
                signatures.0 == nil
                    ? "this server signs the answer, and the other does not"
                    : "the other server signs the answer, and this one does not")
        } else if let signature = signatures.0, !isValid(signature, of: theirs.body) {
            differences.append(
                "the signature of the other server is not by the key \(own.publicKey), with which apps would verify this one's"
            )
        }
        if own.isPublished, let signature = signatures.1, !isValid(signature, of: ours.body) {
            differences.append("the signature of this server is not by the key \(own.publicKey)")
        }
        do throws(ServerError) {
            var left = try JSONFields(try JSONReader.read(theirs.body, "answer", limit: Self.greatestBody), "")
            var right = try JSONFields(try JSONReader.read(ours.body, "answer", limit: Self.greatestBody), "")
            if theirs.status != 200 {
                compareCodes(&left, &right)
            } else if question.wantsKey {
                compare("publicKey", left.optional("publicKey"), right.optional("publicKey"))
            } else {
                try compareAnswers(&left, &right)
            }
        } catch {
            differences.append("the other server's answer is not what clients read: expected \(error.expected)")
        }
    }

    private func isValid(_ signature: String, of body: [UInt8]) -> Bool {
        guard let point = Base64.decode(own.publicKey.utf8), let challenge = question.challenge,
            signature.utf8.count <= 128, let der = Base64.decode(signature.utf8),
            let key = try? P256.Signing.PublicKey(x963Representation: point),
            let read = try? P256.Signing.ECDSASignature(derRepresentation: der)
        else { return false }
        return key.isValidSignature(read, for: challenge.signedOctets(body))
    }

    private mutating func compare(_ field: String, _ left: CanonicalJSON?, _ right: CanonicalJSON?) {
        guard left != right else { return }
        let found = left == nil ? "only this server says it" : right == nil ? "only the other says it" : "they differ"
        differences.append("\(field): \(found)")
    }

    private mutating func compareCodes(_ left: inout JSONFields, _ right: inout JSONFields) {
        func code(_ fields: inout JSONFields) -> CanonicalJSON? {
            guard case .object(let members)? = fields.optional("responseObject") else { return nil }
            return members["code"]
        }
        compare("status", left.optional("status"), right.optional("status"))
        compare("code", code(&left), code(&right))
    }

    private mutating func compareAnswers(_ left: inout JSONFields, _ right: inout JSONFields) throws(ServerError) {
        time = try left.integer("timestamp", in: 0...CanonicalJSON.greatestInteger)
        let (theirs, ours) = (try entries(&left), try entries(&right))
        for entry in theirs.keys where ours[entry] == nil {
            differences.append("\(entry.words): only the other server names it")
        }
        for entry in ours.keys where theirs[entry] == nil {
            differences.append("\(entry.words): only this server names it")
        }
        for (entry, end) in ours {
            guard let other = theirs[entry], other != end else { continue }
            if end == own.content.end, other > end {
                notes.append(
                    "until \(UTCText.encode(end) ?? "\(end)") this server vouches for certificates, which is when the content ends"
                )
            } else {
                differences.append("\(entry.words): it expires at \(other) there, and at \(end) here")
            }
        }
        differences.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        compare("verifyVersionResult", left.optional("verifyVersionResult"), right.optional("verifyVersionResult"))
        compare("domainsConfig", left.optional("domainsConfig"), right.optional("domainsConfig"))
    }

    /// What clients would trust now; they ignore the rest.
    private func entries(_ fields: inout JSONFields) throws(ServerError) -> [Entry: Int64] {
        var entries: [Entry: Int64] = [:]
        for (entry, expires) in try fields.array("fingerprints", atMost: 100_000, Self.entry) where expires >= own.now {
            entries[entry] = expires
        }
        return entries
    }

    private static func entry(_ value: CanonicalJSON, _ path: String) throws(ServerError) -> (Entry, Int64) {
        var fields = try JSONFields(value, path)
        let entry = Entry(
            name: try fields.text("name"), fingerprint: try fields.text("fingerprint"),
            depth: try fields.optionalInteger("depth", in: 0...64) ?? 0)
        return (entry, try fields.integer("expires", in: 0...CanonicalJSON.greatestInteger))
    }
}
