#if os(macOS) || os(Linux)
import Foundation
import Holdfast
import HoldfastTUF
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// The commands that write a repository, killed while clients read it. `scripts/nightly` kills 200.
@Suite("holdfastctl repository, killed", .serialized, .timeLimit(.minutes(120)))
struct KilledWriterOfRepositoriesTests {
    private static let kills = ProcessInfo.processInfo.environment["HOLDFAST_KILLS"].flatMap { Int($0) } ?? 4

    private enum Round: Int, CaseIterable {
        case pins, renewal, onlineKey, rotation
    }

    /// How far the killed command had come, by what is served.
    private enum Progress {
        case nothing, part, everything
    }

    @Test("No client of any age ever refuses what is served, and the next publication completes what was begun")
    func killed() async throws {
        try await SigningSite.with { site in
            let certificates = [try site.leaf("one.pem"), try site.leaf("two.pem"), try site.leaf("three.pem")]
            try await site.beginPublishedRepository(active: certificates[0], backup: certificates[1])
            var (keys, active) = (["online.pem"], 0)
            let seasoned = try Self.apps(site)
            var progress: [Progress] = []
            var generator = SplitMix64(seed: 31)
            var duration = Duration.milliseconds(300)
            for number in 0..<Self.kills {
                let round = Round.allCases[number % Round.allCases.count]
                if round == .pins {
                    active = (active + 1) % certificates.count
                    try await site.preparePins(
                        active: certificates[active], backup: certificates[(active + 1) % certificates.count])
                }
                if round == .onlineKey {
                    try await site.prepareOnlineKey(number, after: try #require(keys.last))
                    keys = keys.suffix(1) + ["online-\(number).pem"]
                }
                let online = keys.flatMap { ["--key", $0] }
                let command =
                    switch round {
                    case .pins, .onlineKey: ["publish", "site", "--force", "offline"] + online
                    case .renewal: ["renew", "site"] + online
                    // Root for another year, of which clients see nothing before it is published.
                    case .rotation: ["rotate", "site", "--role", "root", "--key", "offline.pem"]
                    }
                let before = try site.servedFiles()
                // Half of them at any moment, the others once the first file has changed.
                let isWriting = number % 8 >= 4
                let moment = duration * Double.random(in: 0..<1, using: &generator) * (isWriting ? 0.02 : 1)
                try await Self.reading(site, seasoned) {
                    let process = try GuardedProcess(
                        try #require(CommandRun.program), ["repository"] + command, in: site.folder,
                        limit: .seconds(120))
                    Self.end(process, after: moment, of: isWriting ? site : nil, since: before.count)
                    let status = await process.waitUntilGone()
                    #expect([0, 9].contains(status), "\(command): \(process.output)")
                }
                let after = try site.servedFiles()
                progress.append(
                    after == before
                        ? .nothing : after["bundle.json"] == before["bundle.json"] ? .part : .everything)
                try await Self.reading(site, seasoned) {
                    let start = ContinuousClock.now
                    try await site.repository("publish", "site", "--force", "offline", more: online)
                    duration = ContinuousClock.now - start
                }
                let status = try await site.repository("status", "site")
                #expect(status.output.hasPrefix("Clients accept it;") && !status.output.contains("Signatures"))
                for app in seasoned + (try Self.apps(site)) {
                    #expect(try await app.isLetIn(by: certificates[active], trusting: site.root), "\(round)")
                }
            }
            // With as many as at night some were killed between two writes.
            #expect(Self.kills < 100 || progress.count { $0 == .part } > 0)
        }
    }

    /// New apps. An app that is more than 64 roots behind needs several updates, so these are not so old.
    private static func apps(_ site: SigningSite) throws -> [RepositoryApp] {
        let roots = try site.servedFiles().keys.count { $0.hasSuffix(".root.json") }
        return try [false, true].map {
            try RepositoryApp(site.published, name: SigningSite.name, fetchingFiles: $0, root: max(1, roots - 60))
        }
    }

    /// Has apps update again and again while something else happens: those that know what was there, and new ones.
    private static func reading(
        _ site: SigningSite, _ seasoned: [RepositoryApp], _ body: () async throws -> Void
    ) async throws {
        let isOver = Lock(false)
        async let reader: Int = {
            var rounds = 0
            repeat {
                for app in seasoned + (try apps(site)) { try await update(app, site) }
                rounds += 1
            } while !isOver.withLock { $0 }
            return rounds
        }()
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        isOver.withLock { $0 = true }
        #expect(try await reader > 0)
        try result.get()
    }

    /// Between two files that an app fetches several publications may end. If the keys of timestamp change meanwhile, its
    /// root is older than its timestamp, and the next update goes on.
    private static func update(_ app: RepositoryApp, _ site: SigningSite) async throws {
        func roots() throws -> Int { try site.servedFiles().keys.count { $0.hasSuffix(".root.json") } }
        let before = try roots()
        do {
            try await app.update()
        } catch {
            guard "\(error)".contains("(timestamp, 5.4.2)"), try roots() > before else { throw error }
            try await app.update()
        }
    }

    /// Kills a process after a time, from its start on or, where a site is given, from what it writes first on.
    private static func end(
        _ process: GuardedProcess, after moment: Duration, of site: SigningSite?, since files: Int
    ) {
        let (seconds, attoseconds) = moment.components
        let microseconds = UInt32(clamping: seconds * 1_000_000 + attoseconds / 1_000_000_000_000)
        Thread.detachNewThread {
            // Not for ever: a rotation changes nothing that is served.
            var looks = 0
            while let site, looks < 10_000, site.servedFileCount == files {
                usleep(100)
                looks += 1
            }
            usleep(microseconds)
            process.end()
        }
    }
}
#endif
