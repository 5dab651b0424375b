import Crypto
import Foundation
import NIOCore
import NIOHTTP1

/// Whether another server and this one answer alike: the same statuses and codes, signatures by the same key, the same
/// certificates, the same words about versions. An app that may be moved finds no difference.
public struct ServerComparison: Sendable, Hashable {
    /// The app.
    public let app: AppName
    /// Whether people have published it here; false for one whose first change is compared.
    public let isPublished: Bool
    /// How many questions both were asked.
    public let questions: Int
    /// What differs, in words; empty if nothing does.
    public let differences: [String]
    /// What is different on purpose, in words.
    public let notes: [String]

    private static let greatestDrift: Int64 = 600
    /// An app with a rule for every version of every system is asked about these.
    static let greatestQuestions = 256

    /// Asks both about an app.
    /// - Parameter other: the other server.
    /// - Throws: ``ServerError`` `unreachable` if the other does not answer; `notFound` for an app that has neither
    ///   published challenge answers nor a change with them that is open.
    public init(
        of app: AppName, on publisher: Publisher, with other: OtherServer
    ) async throws(ServerError) {
        let own = try await OwnAnswers(of: app, publisher)
        var (differences, notes): ([String], Set<String>) = ([], [])
        let all = ComparisonQuestion.all(of: app, own.content)
        for question in all.prefix(Self.greatestQuestions) {
            let theirs = try await other.get(question.target, headers: question.headers)
            let ours = own.answer(to: question)
            var judge = AnswerComparison(question, own)
            judge.compare(theirs, ours)
            differences += judge.differences.map { "\(question.words): \($0)" }
            notes.formUnion(judge.notes)
            if let time = judge.time, abs(time - own.now) > Self.greatestDrift {
                notes.insert("the clock of the other server is \(time - own.now) s ahead of this one")
            }
        }
        self.app = app
        isPublished = own.isPublished
        questions = min(all.count, Self.greatestQuestions)
        self.differences = differences
        self.notes = notes.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Whether both answer alike.
    public var isAlike: Bool { differences.isEmpty }
}

/// What this server answers about an app, before it is published as well.
struct OwnAnswers: Sendable {
    let content: AnsweredContent
    let isPublished: Bool
    /// The key that apps are built with: Base64 of its X9.63 form.
    let publicKey: String
    let now: Int64
    private let snapshot: PublishedSnapshot
    private let responder: InitResponder

    init(of app: AppName, _ publisher: Publisher) async throws(ServerError) {
        let snapshot = try await publisher.refresh()
        now = try await publisher.catalog.now()
        responder = InitResponder(budget: SigningBudget(ceiling: 1_000_000), counters: ListenerCounters())
        if let published = snapshot.apps[app] {
            (content, publicKey, isPublished) = (published.content, published.publicKey, true)
            self.snapshot = snapshot
            return
        }
        let key = try await publisher.catalog.key(.fingerprints, of: app)
        let chain = try await publisher.catalog.approvers()
        let generation = publisher.catalog.ledger.generation(of: app)
        let open = try await publisher.catalog.changes(of: app).first { [now] change in
            [.proposed, .approved].contains(change.state(chain, generation: generation, at: now))
                && change.content.formats.contains { $0.kind == .challenge }
        }
        guard let key, let open else {
            throw ServerError(
                .notFound, of: "app \(app)",
                expected: "challenge answers that are published, or an open change with them",
                found: "neither", remedy: "Propose its first change again with change propose --again.")
        }
        content = AnsweredContent(open.content)
        isPublished = false
        // The uncompressed point ends the SubjectPublicKeyInfo (RFC 5480 2).
        publicKey = Base64.encode(key.publicKey.suffix(65))
        // Nobody has approved it, so it is signed with a key that is thrown away: what is compared is what is signed.
        let rehearsed = try DocumentKeys(rehearsing: open.content, at: now)
        self.snapshot = PublishedSnapshot(
            sequence: 0, documents: [:],
            apps: [
                app: PublishedSnapshot.App(
                    generation: 0, content: content, entries: try open.content.entries(at: now), publicKey: publicKey,
                    key: rehearsed.fingerprints)
            ])
    }

    func answer(to question: ComparisonQuestion) -> HTTPExchange.Answer {
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: question.target)
        for header in question.headers { head.headers.add(name: header.name, value: header.value) }
        let request = ListenerRequest(head: head, body: ByteBuffer(), source: .unknown)
        guard let target = try? RequestTarget(question.target.utf8) else {
            return HTTPExchange.Answer(status: 400, headers: [:], body: [])
        }
        let response = responder.answer(
            target, request, from: snapshot, at: now, instant: 0, wantsKey: question.wantsKey)
        // The key is one of a rehearsal, which is here: no program is waited for.
        guard case .now(let answer) = response else {
            return HTTPExchange.Answer(status: 503, headers: [:], body: [])
        }
        return HTTPExchange.Answer(
            status: Int(answer.status.code), headers: HTTPHeaders(answer.headers.map { ($0.name, $0.value) }),
            body: Array(answer.body.readableBytesView))
    }
}
