package import Holdfast
package import HoldfastSigning
package import NIOCore
package import ServerFoundation

/// All data of the public listener, as one value. Each publication or round makes a new one, which ``LiveSnapshot``
/// holds to answer clients. No request reads the database.
package struct PublishedSnapshot: Sendable {
    /// A served document.
    package struct Document: Sendable, Hashable {
        /// The bytes, shared by all answers that have them.
        package let body: ByteBuffer
        /// The compressed bytes, made here so that no client waits; nil if compression saves little.
        package let compressed: ByteBuffer?
        /// Whether ``compressed`` is final, and not made later.
        private let isCompressed: Bool
        /// The value of `Content-Type`.
        package let mediaType: String
        /// The SHA-256 of ``bytes``.
        package let digest: Digest
        /// When it was signed or made, in seconds since 1970, for `Last-Modified`.
        package let signedAt: Int64
        /// The refresh interval of clients, in seconds, for `max-age`.
        package let refresh: Int64
        /// The last second at which clients accept it, in seconds since 1970; no cache may serve it longer.
        package let end: Int64

        /// The bytes.
        package var bytes: [UInt8] { Array(body.readableBytesView) }

        /// The strong validator of RFC 9110 8.8.3, with its quotation marks.
        package let entityTag: String
        /// The validator of ``compressed``, whose bytes differ.
        package let compressedEntityTag: String
        /// The value of `Last-Modified`; nil for a time that the format cannot express.
        package let lastModified: String?

        /// Describes a document.
        package init(bytes: [UInt8], mediaType: String, signedAt: Int64, refresh: Int64, end: Int64) {
            self.init(
                bytes: bytes, digest: Digest(of: bytes), mediaType: mediaType, signedAt: signedAt, refresh: refresh,
                end: end, like: { _ in nil }, compressing: true)
        }

        /// The document, sharing the buffers of another one with the same bytes.
        fileprivate init(_ document: Document, like known: Document) {
            self.init(
                bytes: document.bytes, digest: document.digest, mediaType: document.mediaType,
                signedAt: document.signedAt, refresh: document.refresh, end: document.end, like: { _ in known },
                compressing: false)
        }

        /// The document with compressed bytes.
        fileprivate func compressing() -> Document {
            Document(
                bytes: bytes, digest: digest, mediaType: mediaType, signedAt: signedAt, refresh: refresh, end: end,
                like: { _ in self }, compressing: true)
        }

        /// Describes a document.
        /// - Parameters:
        ///   - digest: that of the bytes.
        ///   - known: a document that may have the same bytes: compressing them is the main cost.
        ///   - compressing: whether to compress bytes that are not compressed yet.
        package init(
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

    /// The data for `/app/init` of an app that publishes challenge answers.
    package struct App: Sendable {
        /// The published generation.
        package let generation: Int64
        /// The part of the approved content that answers need: rules for versions, texts, `domainsConfig`, and the last
        /// second at which answers may be signed.
        package let content: AnsweredContent
        /// The certificates in answers, sorted as in a list.
        package let entries: [FingerprintEntry]
        /// The public key that clients are configured with: Base64 of its X9.63 form.
        package let publicKey: String
        /// Signs answers; nil without the secret, when challenges cannot be answered.
        package let key: (any DocumentSigner)?
        /// The id of that key. The same key has another id in another custody, such as a program's.
        package let signer: String?
        /// Whether a program holds the key, so that answers wait for it. Asking the key itself costs each answer a
        /// microsecond.
        package let signsInProgram: Bool
        /// The parts that all answers share.
        package let parts: InitParts

        /// Describes an app.
        package init(
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
        /// - Parameter saysVersion: whether it states that the application needs no update.
        package func answer(at now: Int64, saysVersion: Bool = false) -> [UInt8] {
            let verdict = saysVersion ? #","verifyVersionResult":{"update":"NOT_REQUIRED"}"# : ""
            return Array(#"{"timestamp":\#(now),"#.utf8) + parts.fingerprints + verdict.utf8 + parts.domains
                + [UInt8(ascii: "}")]
        }

        /// The served value, if it is equal, so that a thousand unchanged apps are in memory only once.
        package func shared(with served: App?) -> App {
            guard let served, served.generation == generation, served.publicKey == publicKey, served.signer == signer,
                (served.key == nil) == (key == nil), served.parts == parts, served.content == content
            else { return self }
            return served
        }
    }

    /// The data of one name, an app's or that of its canary.
    package struct Part: Sendable {
        /// The documents by their paths.
        var documents: [String: Document] = [:]
        /// The data for challenge answers; nil if there are none.
        var app: App?
        /// The last second at which anything may be signed for the publication, in seconds since 1970; nil if unknown.
        var end: Int64?

        /// This part, with the other data of the same name. The paths do not overlap.
        func merging(_ other: Part) -> Part {
            Part(
                documents: documents.merging(other.documents) { own, _ in own }, app: app ?? other.app,
                end: end ?? other.end)
        }

        /// The part for a name whose rows can no longer be read. Signed documents are still served. Nothing is signed
        /// for a content that has been replaced.
        func kept(signing content: Digest?) -> Part {
            guard let app, app.content.digest != content else { return self }
            return Part(
                documents: documents,
                app: App(
                    generation: app.generation, content: app.content, entries: app.entries, publicKey: app.publicKey,
                    key: nil), end: end)
        }
    }

    /// The parts of an app and its canary by their names. Another app may have a part of the same name.
    package struct Contribution: Sendable {
        /// The latest entry of the audit that may concern the app.
        let entry: Int64
        /// Whether nothing may be signed.
        let isMute: Bool
        /// Whether its documents are compressed.
        var isCompressed: Bool
        /// The first second at which the contribution is valid, in seconds since 1970.
        let begin: Int64
        /// The last second before answers drop a certificate.
        var end = Int64.max
        /// The parts by name; nil for a name without data.
        var parts: [(name: AppName, part: Part?)] = []
        /// The read errors, in sentences.
        var problems: [String] = []

        /// The contribution with compressed documents.
        func compressing() -> Contribution {
            guard !isCompressed else { return self }
            var made: [Digest: Document] = [:]
            var whole = self
            whole.isCompressed = true
            whole.parts = parts.map { name, part in
                var part = part
                // The canary mostly has the same bytes as all clients.
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

    /// The number of entries in the audit. Of two snapshots, the one with the greater number is newer.
    package let sequence: Int64
    /// Why some data are served as before, in sentences; empty if everything could be read.
    package let problems: [String]
    /// The part of each name.
    package let parts: [AppName: Part]
    /// The contribution of each app.
    let contributions: [AppName: Contribution]
    /// The documents by their paths, such as `lists/bank.json`: no slash at the beginning, printable ASCII.
    package let documents: [String: Document]
    /// Whether only documents could be read, so that the apps are unknown.
    package let isOfDocuments: Bool
    /// The apps that a starting server still reads; nil after the start.
    package let starting: StartingApps?
    /// The apps that publish challenge answers.
    package let apps: [AppName: App]

    /// The snapshot before the first publication.
    package static let empty = PublishedSnapshot(sequence: 0, documents: [:], apps: [:])

    /// Maximum length of a path in requests; published paths are shorter.
    package static let maximumPath = 512

    /// Makes a snapshot.
    package init(sequence: Int64, documents: [String: Document], apps: [AppName: App]) {
        self.sequence = sequence
        self.documents = documents
        self.apps = apps
        (problems, parts, contributions, isOfDocuments, starting) = ([], [:], [:], false, nil)
    }

    /// Serves only documents.
    package init(documents: [String: Document]) {
        self.documents = documents
        (sequence, apps, problems, parts, contributions) = (0, [:], [], [:], [:])
        (isOfDocuments, starting) = (true, nil)
    }

    /// Serves nothing until it is read.
    package init(starting: StartingApps) {
        (sequence, documents, apps, problems, parts, contributions) = (0, [:], [:], [], [:], [:])
        (isOfDocuments, self.starting) = (false, starting)
    }

    /// The data of some apps, of a server that still reads the others.
    package init(of found: [Contribution]) {
        self.init(
            sequence: 0, parts: Self.parts(of: found), problems: found.flatMap(\.problems),
            contributions: [:])
    }

    /// The merged part of each name.
    package static func parts(of found: [Contribution]) -> [AppName: Part] {
        var parts: [AppName: Part] = [:]
        for (name, part) in found.flatMap(\.parts) {
            // A canary that follows a repository is an app as well, under the same name.
            parts[name] = parts[name].map { part?.merging($0) ?? $0 } ?? part
        }
        return parts
    }

    /// Combines the parts of all names. The paths do not overlap.
    package init(
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

    /// The document at a path of a request, after percent-decoding and without the slash at the beginning; nil if it
    /// does not exist. The path must be short ASCII before it is compared as text.
    package func document(at path: some Collection<UInt8>) -> Document? {
        guard ASCIIText.isPrintable(path, 1...Self.maximumPath) else { return nil }
        return documents[String(decoding: path, as: UTF8.self)]
    }
}
