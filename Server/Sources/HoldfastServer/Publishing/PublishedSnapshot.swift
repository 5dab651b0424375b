public import Holdfast
public import HoldfastSigning
import NIOCore

/// Everything that the public listener serves, as one value: it is made after a publication or a round, and clients are
/// answered from it until ``LiveSnapshot`` holds the next one. No request reads the database.
public struct PublishedSnapshot: Sendable {
    /// A document that is served as it is.
    public struct Document: Sendable, Hashable {
        /// The bytes, shared by all answers that have them.
        let body: ByteBuffer
        /// The same compressed, made here so that no client waits for it; nil if that saves little.
        let compressed: ByteBuffer?
        /// Whether ``compressed`` is what there is, and not what there may be later.
        private let isCompressed: Bool
        /// The value of `Content-Type`.
        public let mediaType: String
        /// The SHA-256 of ``bytes``.
        public let digest: Digest
        /// When it was signed or made, in seconds since 1970, for `Last-Modified`.
        public let signedAt: Int64
        /// After how many seconds clients ask again, for `max-age`.
        public let refresh: Int64
        /// The last second at which clients accept it, in seconds since 1970; no cache may serve it longer.
        public let end: Int64

        /// The bytes.
        public var bytes: [UInt8] { Array(body.readableBytesView) }

        /// The strong validator of RFC 9110 8.8.3, with its quotation marks.
        public let entityTag: String
        /// That of ``compressed``: other bytes, another validator.
        let compressedEntityTag: String
        /// The value of `Last-Modified`; nil for a time that it cannot say.
        let lastModified: String?

        /// Describes a document.
        public init(bytes: [UInt8], mediaType: String, signedAt: Int64, refresh: Int64, end: Int64) {
            self.init(
                bytes: bytes, digest: Digest(of: bytes), mediaType: mediaType, signedAt: signedAt, refresh: refresh,
                end: end, like: { _ in nil }, compressing: true)
        }

        /// The same with what another of the same bytes has.
        fileprivate init(_ document: Document, like known: Document) {
            self.init(
                bytes: document.bytes, digest: document.digest, mediaType: document.mediaType,
                signedAt: document.signedAt, refresh: document.refresh, end: document.end, like: { _ in known },
                compressing: false)
        }

        /// The same with its bytes compressed.
        fileprivate func compressing() -> Document {
            Document(
                bytes: bytes, digest: digest, mediaType: mediaType, signedAt: signedAt, refresh: refresh, end: end,
                like: { _ in self }, compressing: true)
        }

        /// Describes a document.
        /// - Parameters:
        ///   - digest: that of the bytes.
        ///   - known: a document that may have the same bytes: compressing them costs more than all else.
        ///   - compressing: whether they are compressed if they have not been.
        init(
            bytes: [UInt8], digest: Digest, mediaType: String, signedAt: Int64, refresh: Int64, end: Int64,
            like known: (Digest) -> Document?, compressing: Bool
        ) {
            self.digest = digest
            let known = known(digest)
            body = known?.body ?? ByteBuffer(bytes: bytes)
            let isCompressed = known?.isCompressed ?? false
            compressed =
                isCompressed
                ? known?.compressed : compressing ? Gzip.compress(bytes).map { ByteBuffer(bytes: $0) } : nil
            self.isCompressed = isCompressed || compressing
            entityTag = "\"\(digest)\""
            compressedEntityTag = "\"\(digest)-gzip\""
            lastModified = HTTPDate.encode(signedAt)
            self.mediaType = mediaType
            self.signedAt = signedAt
            self.refresh = refresh
            self.end = end
        }
    }

    /// What `/app/init` needs to know about an app that publishes challenge answers.
    public struct App: Sendable {
        /// The generation that is published.
        public let generation: Int64
        /// What answers need of the approved content: rules for versions, texts, `domainsConfig`, and the last second at
        /// which they may be signed.
        public let content: AnsweredContent
        /// The certificates to vouch for, sorted as a list has them.
        public let entries: [FingerprintEntry]
        /// The public key that clients are configured with: Base64 of its X9.63 form.
        public let publicKey: String
        /// What signs answers; nil without the secret, when challenges cannot be answered.
        public let key: (any DocumentSigner)?
        /// The id of that key: the same key in other hands, such as a program's, has another one.
        let signer: String?
        /// Whether a program has the key, for which somebody waits. To ask the key itself costs each answer a microsecond.
        let signsInProgram: Bool
        /// What every answer has.
        let parts: InitParts

        /// Describes an app.
        public init(
            generation: Int64, content: AnsweredContent, entries: [FingerprintEntry], publicKey: String,
            key: (any DocumentSigner)?, signer: String? = nil
        ) {
            self.generation = generation
            self.content = content
            self.entries = entries
            self.publicKey = publicKey
            self.key = key
            self.signer = signer
            signsInProgram = key is OutsideSigningKey
            parts = InitParts(entries, content.domains)
        }

        /// The body of an answer.
        /// - Parameter saysVersion: whether it says that the application needs no update.
        func answer(at now: Int64, saysVersion: Bool = false) -> [UInt8] {
            let verdict = saysVersion ? #","verifyVersionResult":{"update":"NOT_REQUIRED"}"# : ""
            return Array(#"{"timestamp":\#(now),"#.utf8) + parts.fingerprints + verdict.utf8 + parts.domains
                + [UInt8(ascii: "}")]
        }

        /// The one that is served, where it says the same: a thousand apps that did not change are in memory once.
        func shared(with served: App?) -> App {
            guard let served, served.generation == generation, served.publicKey == publicKey, served.signer == signer,
                (served.key == nil) == (key == nil), served.parts == parts, served.content == content
            else { return self }
            return served
        }
    }

    /// What is served under one name, an app's or that of its canary.
    struct Part: Sendable {
        /// The documents by their paths.
        var documents: [String: Document] = [:]
        /// What challenge answers say; nil if there are none.
        var app: App?
        /// The last second at which anything may be signed for what is published, in seconds since 1970; nil if that is
        /// not known.
        var end: Int64?

        /// The same with what else is served under the name. No two have a path in common.
        func merging(_ other: Part) -> Part {
            Part(
                documents: documents.merging(other.documents) { own, _ in own }, app: app ?? other.app,
                end: end ?? other.end)
        }

        /// The same for a name whose rows cannot be read anymore. What was signed is served on; nothing is signed for a
        /// content that is no longer the one.
        func kept(signing content: Digest?) -> Part {
            guard let app, app.content.digest != content else { return self }
            return Part(
                documents: documents,
                app: App(
                    generation: app.generation, content: app.content, entries: app.entries, publicKey: app.publicKey,
                    key: nil), end: end)
        }
    }

    /// What an app and its canary have: parts by their names, of which another app may have the same.
    struct Contribution: Sendable {
        /// The latest entry of the audit that may concern the app.
        let entry: Int64
        /// Whether nothing may be signed.
        let isMute: Bool
        /// Whether its documents are compressed.
        var isCompressed: Bool
        /// The first second at which it was like this, in seconds since 1970.
        let begin: Int64
        /// The last second before a certificate is named no longer.
        var end = Int64.max
        /// Nil for a name that has nothing.
        var parts: [(name: AppName, part: Part?)] = []
        /// What could not be read, in sentences.
        var problems: [String] = []

        /// The same with its documents compressed.
        func compressing() -> Contribution {
            guard !isCompressed else { return self }
            var made: [Digest: Document] = [:]
            var whole = self
            whole.isCompressed = true
            whole.parts = parts.map { name, part in
                var part = part
                // The canary has the same bytes as everybody, for the most part.
                for (path, document) in part?.documents ?? [:] {
                    let compressed = made[document.digest] ?? document.compressing()
                    made[document.digest] = compressed
                    part?.documents[path] = Document(document, like: compressed)
                }
                return (name, part)
            }
            return whole
        }
    }

    /// How many entries the audit had: of two snapshots the one with the greater number is newer.
    public let sequence: Int64
    /// Why something is served as it was before, in sentences; empty if everything could be read.
    public let problems: [String]
    /// What each name has.
    let parts: [AppName: Part]
    /// What each app has.
    let contributions: [AppName: Contribution]
    /// The documents by their paths, such as `lists/bank.json`: no slash at the beginning, printable ASCII.
    public let documents: [String: Document]
    /// Whether nothing but documents could be read: nobody knows which apps there are.
    public let isOfDocuments: Bool
    /// The apps that are still read, by a server that starts; nil once it knows what is served.
    let starting: StartingApps?
    /// The apps that publish challenge answers.
    public let apps: [AppName: App]

    /// Before anything was published.
    public static let empty = PublishedSnapshot(sequence: 0, documents: [:], apps: [:])

    /// Longer than any path that is published.
    static let maximumPath = 512

    /// Puts a snapshot together.
    public init(sequence: Int64, documents: [String: Document], apps: [AppName: App]) {
        self.sequence = sequence
        self.documents = documents
        self.apps = apps
        (problems, parts, contributions, isOfDocuments, starting) = ([], [:], [:], false, nil)
    }

    /// Serves documents alone.
    init(documents: [String: Document]) {
        self.documents = documents
        (sequence, apps, problems, parts, contributions) = (0, [:], [], [:], [:])
        (isOfDocuments, starting) = (true, nil)
    }

    /// Serves nothing before it is read.
    init(starting: StartingApps) {
        (sequence, documents, apps, problems, parts, contributions) = (0, [:], [:], [], [:], [:])
        (isOfDocuments, self.starting) = (false, starting)
    }

    /// What some apps have, of a server that reads the others still.
    init(of found: [Contribution]) {
        self.init(
            sequence: 0, parts: Self.parts(of: found), problems: found.flatMap(\.problems),
            contributions: [:])
    }

    /// What each name has.
    static func parts(of found: [Contribution]) -> [AppName: Part] {
        var parts: [AppName: Part] = [:]
        for (name, part) in found.flatMap(\.parts) {
            // A canary that follows a repository is an app as well, under the same name.
            parts[name] = parts[name].map { part?.merging($0) ?? $0 } ?? part
        }
        return parts
    }

    /// Puts the parts of all names together. No two have a path in common.
    init(
        sequence: Int64, parts: [AppName: Part], problems: [String],
        contributions: [AppName: Contribution]
    ) {
        self.sequence = sequence
        self.parts = parts
        self.contributions = contributions
        self.problems = problems
        documents = parts.values.reduce(into: [:]) { all, part in all.merge(part.documents) { first, _ in first } }
        apps = parts.compactMapValues(\.app)
        (isOfDocuments, starting) = (false, nil)
    }

    /// The document at a path of a request, after percent-decoding and without the slash at the beginning; nil if there
    /// is none. The path is not compared as text before it is known to be short ASCII.
    public func document(at path: some Collection<UInt8>) -> Document? {
        guard ASCIIText.isPrintable(path, 1...Self.maximumPath) else { return nil }
        return documents[String(decoding: path, as: UTF8.self)]
    }
}
